#!/bin/bash
# Tests of deploy/release.sh and of the workflow that calls it, offline: with small packages, a folder in the place of
# the server, and a program that stands in for gh.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C
unset GITHUB_ACTIONS LOOKOUT_ARCHIVE_URL  # of the runner that this may be

missing=
for program in apt-ftparchive gpg gpgv dpkg-deb rsync; do
  command -v $program >/dev/null || missing="$missing $program"
done
/usr/bin/python3 -c 'import yaml' 2>/dev/null || missing="$missing python3-yaml"
[ -z "$missing" ] || {
  echo "skipped: there is no$missing"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

echo 'workflow'
/usr/bin/python3 - .github/workflows/release.yml <<'END'
import os, re, shlex, sys
import yaml

with open(sys.argv[1]) as file:
    workflow = yaml.safe_load(file)
jobs = workflow["jobs"]
assert workflow["permissions"] == {"contents": "read"}, "more rights than needed"
for name, job in jobs.items():
    assert job["timeout-minutes"] > 0, f"{name} has no time limit"
    needed = job.get("needs", [])
    for other in [needed] if isinstance(needed, str) else needed:
        assert other in jobs, f"{name} needs {other}, which is no job"
    for step in job["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]), f"{step['uses']} is not pinned"
            continue
        # Values come by variables of the environment: in a command they would be code of whoever names a tag.
        assert "${{" not in step["run"], f"{step['run']} has an expression"
        for line in step["run"].splitlines():
            words = [word for word in shlex.split(line) if word != "sudo"]
            assert os.access(words[0], os.X_OK), f"{words[0]} is no script"
            if words[0] == "deploy/release.sh":
                with open(words[0]) as script:
                    assert f"\n#   release.sh {words[1]} " in script.read(), f"release.sh has no step {words[1]}"
secret = [name for name, job in jobs.items() if "secrets." in str(job)]
assert secret == ["publish"], f"secrets are in {secret}"
assert jobs["publish"]["environment"] and jobs["publish"]["concurrency"], "nobody approves it"
END

# refused STATUS TEXT COMMAND...
refused() {
  local expected=$1 text=$2 status=0
  shift 2
  "$@" >"$work/out" 2>&1 || status=$?
  [ $status = "$expected" ] || fail "$*: status $status: $(cat "$work/out")"
  grep -qF -- "$text" "$work/out" || fail "$*: says $(cat "$work/out")"
}

make_deb() {
  local tree=$work/tree
  rm -rf "$tree"
  mkdir -p "$tree/DEBIAN" "$work/debs"
  printf '%s\n' 'Package: lookout' "Version: $1" 'Architecture: arm64' 'Maintainer: test <test@lookout.invalid>' \
    'Description: test' >"$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip -b "$tree" "$work/debs/lookout_$1_arm64.deb" >/dev/null
}

echo 'steps'
version=$(sed -n 's/^project(lookout VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
deploy/release.sh check "v$version"
refused 65 "expected v$version" deploy/release.sh check v0.0.1
refused 64 '--help tells more' deploy/release.sh
refused 64 '--help tells more' deploy/release.sh install sid a.deb
refused 64 'expected bookworm or trixie, and arm64 or amd64' deploy/release.sh build bookworm armhf "$work"
refused 64 '--help tells more' deploy/release.sh publish "$work"
make_deb 1.0+deb13
make_deb 1.1+deb13

mkdir "$work/bin"
cat >"$work/bin/gh" <<'END'
#!/bin/sh
echo "$*" >"$WORK/gh"
for file; do
  case $file in
  *SHA256SUMS) cp "$file" "$WORK/debs" ;;
  esac
done
END
chmod +x "$work/bin/gh"
export WORK=$work
PATH=$work/bin:$PATH deploy/release.sh draft v1.0 "$work/debs/"*.deb
grep -q '^release create v1.0 --draft ' "$work/gh" || fail "gh: $(cat "$work/gh")"
(cd "$work/debs" && sha256sum --quiet --check SHA256SUMS)
PATH=$work/bin:$PATH deploy/release.sh announce v1.0
grep -qx 'release edit v1.0 --draft=false' "$work/gh" || fail "gh: $(cat "$work/gh")"

export GNUPGHOME=$work/gpg
mkdir -m700 "$GNUPGHOME"
gpg --batch --quiet --passphrase '' --quick-gen-key 'test <test@lookout.invalid>' ed25519 sign never 2>/dev/null
LOOKOUT_ARCHIVE_KEYS=$(gpg --batch --armor --export-secret-keys)
gpg --batch --export >"$work/key.pgp"
gpgconf --kill all
# The first release makes its folder.
refused 77 'LOOKOUT_ARCHIVE_KEYS has no key' env -u LOOKOUT_ARCHIVE_KEYS deploy/release.sh publish "$work/new/server" "$work/debs/"*.deb
export LOOKOUT_ARCHIVE_KEYS
for version in 1.0 1.1; do
  deploy/release.sh publish "$work/new/server" "$work/debs/lookout_$version+deb13_arm64.deb" >"$work/out" 2>&1 ||
    fail "publish: $(cat "$work/out")"
  gpgv --quiet --keyring "$work/key.pgp" "$work/new/server/dists/trixie/InRelease" 2>/dev/null || fail 'it is not signed'
done
[ -z "$(find "$work/new/server" -name '*keyring*')" ] || fail 'a keyring without an address'
refused 64 'goes with it' env GITHUB_ACTIONS=true deploy/release.sh publish "$work/new/server" "$work/debs/"*.deb
# keyrings COUNT URL WHAT: so many packages of it are there after one more release.
keyrings() {
  LOOKOUT_ARCHIVE_URL=$2 deploy/release.sh publish "$work/new/server" "$work/debs/lookout_1.1+deb13_arm64.deb" >"$work/out" 2>&1 ||
    fail "publish: $(cat "$work/out")"
  [ "$(find "$work/new/server/pool/trixie" -name 'lookout-archive-keyring_*.deb' | wc -l)" = "$1" ] || fail "$3"
}
keyrings 1 https://packages.invalid/lookout "no package of the keys"
grep -q '^[0-9a-f]\{64\}  ' "$work/out" || fail 'its sum is not printed'
keyrings 1 https://packages.invalid/lookout 'a second one without a change'
keyrings 2 https://packages.invalid/other 'none of the new address'
index=$work/new/server/dists/trixie/main/binary-arm64
[ "$(grep -c '^Package: lookout$' "$index/Packages")" = 2 ] || fail 'the older version is gone'
hash=$(sha256sum "$index/Packages")
[ -e "$index/by-hash/SHA256/${hash%% *}" ] || fail 'the index is not there by its hash'
[ -z "$(find "$work/new/server" -name '*.part')" ] || fail 'a part was left'
echo passed
