#!/bin/bash
# Tests of deploy/apt-repository.sh and archive-keyring.sh: small packages of this machine's architecture, keys
# of their own, and real apt and dpkg with folders of their own as root and state. Offline.
#
# LOOKOUT_APT_ROOT: a folder with another Debian, whose apt is tried, too; apt_root.sh prints one.
set -euo pipefail
cd "$(dirname "$0")/../.."
export LC_ALL=C

missing=
for program in apt-ftparchive gpg gpgv dpkg-deb python3; do
  command -v $program >/dev/null || missing="$missing $program"
done
[ -z "$missing" ] || {
  echo "skipped: there is no$missing"
  exit 77
}

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; gpgconf --homedir "$work/gpg" --kill all 2>/dev/null || :; rm -rf "$work"' EXIT
chmod 755 "$work"
export GNUPGHOME=$work/gpg
mkdir -m700 "$GNUPGHOME"
architecture=$(dpkg --print-architecture)
repository=$work/repository

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# make_deb NAME VERSION [DEPENDS]: prints the file.
make_deb() {
  local tree=$work/tree deb=$work/debs/$1_$2_$architecture.deb
  rm -rf "$tree"
  mkdir -p "$tree/DEBIAN" "$tree/usr/share/$1" "$work/debs"
  echo "$2" >"$tree/usr/share/$1/version"
  printf '%s\n' "Package: $1" "Version: $2" "Architecture: $architecture" 'Maintainer: test <test@lookout.invalid>' \
    'Description: test' ${3:+"Depends: $3"} >"$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip -b "$tree" "$deb" >/dev/null
  echo "$deb"
}

# make_key NAME [END]: prints its fingerprint.
make_key() {
  gpg --batch --quiet --passphrase '' --quick-gen-key "$1 <$1@lookout.invalid>" ed25519 sign "${2-never}" 2>/dev/null
  gpg --batch --with-colons --list-secret-keys "$1@" | awk -F: '$1 == "fpr" { print $10; exit }'
}

# refused STATUS TEXT COMMAND...
refused() {
  local expected=$1 text=$2 status=0
  shift 2
  "$@" >"$work/out" 2>&1 || status=$?
  [ $status = "$expected" ] || fail "$*: status $status: $(cat "$work/out")"
  grep -qF -- "$text" "$work/out" || fail "$*: says $(cat "$work/out")"
}

make_repository() { deploy/apt-repository.sh "$@" >"$work/out" 2>&1 || fail "apt-repository.sh: $(cat "$work/out")"; }

# ---- A client: a folder with the configuration and state of apt and dpkg

# new_client FOLDER KEYRING SUITE
new_client() {
  client=$1
  rm -rf "$client"
  mkdir -p "$client"/{etc/apt/{sources.list.d,apt.conf.d,preferences.d,trusted.gpg.d},var/lib/dpkg/{info,updates,triggers}} \
    "$client"/var/{lib/apt/lists/partial,cache/apt/archives/partial,log/apt}
  touch "$client"/var/lib/dpkg/{status,available}
  cp "$2" "$client/key.pgp"
  cp /etc/os-release "$client/etc/os-release"
  printf '%s\n' 'Types: deb' "URIs: $uri" "Suites: $3" 'Components: main' "Signed-By: $client/key.pgp" \
    >"$client/etc/apt/sources.list.d/test.sources"
  cat >"$client/apt.conf" <<END
Dir "$client";
Dir::State::status "$client/var/lib/dpkg/status";
Dir::Log "$client/var/log/apt";
Dir::Bin::dpkg "/usr/bin/dpkg";
Dir::Bin::Methods "/usr/lib/apt/methods";
APT::Architecture "$architecture";
APT::Architectures "$architecture";
APT::Sandbox::User "root";
APT::Get::Assume-Yes "true";
Acquire::Languages "none";
Acquire::http::Proxy "DIRECT";
DPkg::Options { "--root=$client"; "--force-not-root"; "--force-script-chrootless"; "--log=/dev/null"; };
DPkg::Path "";
END
}

# The programs of this machine, or of the folder $root, where this test's folder has the same name.
system_run() {
  if [ -z "$root" ]; then
    "$@"
  else
    # shellcheck disable=SC2016  # another shell expands it
    unshare --mount sh -ec 'root=$1; work=$2; shift 2
      mount -t tmpfs tmpfs "$root/tmp"; mkdir -p "$root$work"; mount --bind "$work" "$root$work"
      mount --bind /dev "$root/dev"
      exec chroot "$root" "$@"' sh "$root" "$work" "$@"
  fi
}

apt_get() { system_run env APT_CONFIG="$client/apt.conf" apt-get "$@" >"$work/apt" 2>&1; }
apt_mark() {
  system_run env APT_CONFIG="$client/apt.conf" apt-mark "$@" >"$work/apt" 2>&1 || fail "apt-mark $*: $(cat "$work/apt")"
}
# A server that is not reached for a moment is a warning to apt, which keeps what it had.
update() { apt_get update -o APT::Update::Error-Mode=any || fail "apt-get update: $(cat "$work/apt")"; }
install() { apt_get install --allow-downgrades "$@" || fail "apt-get install $*: $(cat "$work/apt")"; }

# update_fails TEXT: of apt, a regular expression. apt's list stays as it was.
update_fails() {
  ! apt_get update -o APT::Update::Error-Mode=any || fail "apt took it: $(cat "$work/apt")"
  grep -qE "$1" "$work/apt" || fail "expected $1: $(cat "$work/apt")"
}

# has PACKAGE VERSION: installed
has() {
  local version
  version=$(dpkg-query --admindir="$client/var/lib/dpkg" -W -f '${Version}' "$1")
  [ "$version" = "$2" ] || fail "$1 $version is installed, not $2"
}

echo 'repository'
first=$(make_key first)
second=$(make_key second)
gpg --batch --export "$first" >"$work/first.pgp"
gpg --batch --export "$second" >"$work/second.pgp"
# The program needs one of two engines, and an engine the program, all of one version: see depends.cmake.
make_version() {
  make_deb lookout "$1" "lookout-other (= $1) | lookout-engine (= $1)"
  make_deb lookout-engine "$1" "lookout (= $1)"
  make_deb lookout-other "$1" "lookout (= $1)"
}
mapfile -t old < <(make_version 0.2.0+deb12 && make_version 0.2.0+deb13)
mapfile -t new < <(make_version 0.3.0+deb12 && make_version 0.3.0+deb13)
deploy/archive-keyring.sh https://packages.invalid/lookout 1 "$work/debs" "$work/first.pgp" >"$work/out"
grep -q '^[0-9a-f]\{64\}  ' "$work/out" || fail 'the sum of the keyring package is not printed'
keyring=$work/debs/lookout-archive-keyring_1_all.deb

refused 64 '--key FINGERPRINT is missing' deploy/apt-repository.sh "$repository" "${old[@]}"
refused 77 'gpg has no secret key nobody' deploy/apt-repository.sh --key nobody "$repository"
refused 65 'ends neither with +deb12 nor with +deb13' deploy/apt-repository.sh --key "$first" "$repository" "${old[0]}" \
  "$(make_deb lookout 0.2.0)"
[ -z "$(find "$repository" -name '*.deb')" ] || fail 'a part was added'
echo no package >"$work/no.deb"
refused 65 'is not a package of Debian' deploy/apt-repository.sh --key "$first" "$repository" "$work/no.deb"
make_repository --key "$first" "$repository" "${old[@]}" "$keyring"
make_repository --key "$first" "$repository" "${old[@]}"
(cd "$repository" && find pool -type f | sort) >"$work/pool"
diff - "$work/pool" <<END || fail 'the pool is another'
pool/bookworm/lookout-archive-keyring/lookout-archive-keyring_1_all.deb
pool/bookworm/lookout-engine/lookout-engine_0.2.0+deb12_$architecture.deb
pool/bookworm/lookout-other/lookout-other_0.2.0+deb12_$architecture.deb
pool/bookworm/lookout/lookout_0.2.0+deb12_$architecture.deb
pool/trixie/lookout-archive-keyring/lookout-archive-keyring_1_all.deb
pool/trixie/lookout-engine/lookout-engine_0.2.0+deb13_$architecture.deb
pool/trixie/lookout-other/lookout-other_0.2.0+deb13_$architecture.deb
pool/trixie/lookout/lookout_0.2.0+deb13_$architecture.deb
END
cp "${old[0]}" "$work/kept.deb"
make_deb lookout 0.2.0+deb12 lookout-base >/dev/null
refused 65 'another file of this name and version' deploy/apt-repository.sh --key "$first" "$repository" "${old[0]}"
cp "$work/kept.deb" "${old[0]}"
mkdir "$work/twice"
for deb in one other; do
  mkdir "$work/twice/$deb"
  mv "$(make_deb lookout 0.5.0+deb12 "lookout-$deb")" "$work/twice/$deb"
done
refused 65 'is another file' deploy/apt-repository.sh --key "$first" "$repository" "$work/twice"/*/*.deb
[ -z "$(find "$repository" -name '*0.5.0*')" ] || fail 'one of two packages of a name and version was added'
make_repository --key "$(make_key third 2y)" "$work/ends"
grep -q '^boards refuse the repository from 20' "$work/out" || fail 'the end of the key is not told'
cp "$work/twice/one"/*.deb "$work/twice/other"
make_repository --key "$first" "$work/same" "$work/twice"/*/*.deb
[ "$(grep -c '^added ' "$work/out")" = 1 ] || fail "the same package twice: $(cat "$work/out")"
for field in 'Origin: lookout' 'Codename: trixie' 'Acquire-By-Hash: yes'; do
  grep -qx "$field" "$repository/dists/trixie/Release" || fail "Release has no $field"
done
! grep -qE '^(MD5Sum|SHA1|Valid-Until)' "$repository/dists/trixie/Release" || fail 'Release has more than SHA-256'
for _ in 1 2 3 4; do make_repository --key "$first" "$repository"; done
cp -a "$repository" "$work/pristine"

python3 - "$repository" "$work/port" "$work/requests" <<'END' &
import functools, http.server, sys
folder, port, requests = sys.argv[1:]
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, form, *values):
        with open(requests, "a") as file:
            file.write(form % values + "\n")
    def send_head(self):
        # Dates of HTTP are of a second, and an index may be followed by the next within one.
        del self.headers["If-Modified-Since"]
        return super().send_head()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
with open(port + ".part", "w") as file:
    file.write(str(server.server_port))
import os
os.rename(port + ".part", port)
server.serve_forever()
END
server=$!
until [ -s "$work/port" ]; do
  kill -0 "$server" || fail 'the server ended'
  sleep 0.1
done
http=http://127.0.0.1:$(cat "$work/port")

# restored: what a board reads is what was made.
restored() {
  find "$repository" -mindepth 1 -delete
  cp -a "$work/pristine/." "$repository/"
}

# ---- What a board does. $root: whose apt; $suite, $end: its packages

life() {
  restored
  for uri in "file:$repository" "$http"; do
    new_client "$work/client" "$work/first.pgp" "$suite"
    update
    install lookout lookout-engine
    has lookout "0.2.0+$end"
  done
  make_repository --key "$first" "$repository" "${new[@]}"
  : >"$work/requests"
  update
  grep -q "dists/$suite/main/binary-$architecture/by-hash/SHA256/" "$work/requests" ||
    fail "the index did not come by its hash: $(cat "$work/apt" "$work/requests")"
  apt_get upgrade || fail "upgrade: $(cat "$work/apt")"
  has lookout "0.3.0+$end"
  has lookout-engine "0.3.0+$end"
  ! apt_get install --allow-downgrades "lookout=0.2.0+$end" || fail 'the program went back without its engine'
  has lookout-engine "0.3.0+$end"
  ! apt_get install --allow-downgrades "lookout-engine=0.2.0+$end" || fail 'the engine went back without its program'
  has lookout "0.3.0+$end"
  has lookout-engine "0.3.0+$end"
  install "lookout=0.2.0+$end" "lookout-engine=0.2.0+$end"
  has lookout "0.2.0+$end"
  has lookout-engine "0.2.0+$end"
  apt_mark hold lookout
  apt_get upgrade || fail "upgrade of a held program: $(cat "$work/apt")"
  has lookout "0.2.0+$end"
  has lookout-engine "0.2.0+$end"
  apt_mark unhold lookout
  apt_get upgrade
  has lookout "0.3.0+$end"
  has lookout-engine "0.3.0+$end"
  install lookout-archive-keyring
  grep -qx 'URIs: https://packages.invalid/lookout' "$client/etc/apt/sources.list.d/lookout.sources" || fail 'no .sources file'
}

refusals() {
  local index=dists/$suite/main/binary-$architecture
  restored
  uri=$http
  new_client "$work/client" "$work/first.pgp" "$suite"
  for file in "$repository/$index"/Packages* "$repository/$index"/by-hash/SHA256/*; do echo >>"$file"; done
  update_fails 'Hash Sum mismatch|unexpected size|File has'
  restored
  update
  echo >>"$repository/pool/$suite/lookout/lookout_0.2.0+${end}_$architecture.deb"
  ! apt_get install lookout lookout-engine || fail 'a changed package was installed'
  grep -qE 'Hash Sum mismatch|unexpected size|File has' "$work/apt" || fail "a changed package: $(cat "$work/apt")"
  restored
  sed -i "s/^Label: lookout/Label: Lookout/" "$repository/dists/$suite/InRelease"
  update_fails 'BADSIG|[Bb]ad signature|invalid|could not be verified|verification failed|not signed'
  rm "$repository/dists/$suite"/{InRelease,Release.gpg}
  update_fails 'is not signed|is no longer signed'
  restored
  new_client "$work/client" "$work/second.pgp" "$suite"
  update_fails 'NO_PUBKEY|[Mm]issing key|not signed|could not be verified'
  restored
}

rotation() {
  restored
  uri=$http
  make_repository --key "$first" --key "$second" "$repository"
  for key in first second; do
    new_client "$work/client" "$work/$key.pgp" "$suite"
    update
    install lookout lookout-engine
  done
  make_repository --key "$second" "$repository"
  update
  new_client "$work/client" "$work/first.pgp" "$suite"
  update_fails 'NO_PUBKEY|[Mm]issing key|not signed|could not be verified'
}

everything() {
  echo "$1, suite $suite"
  life
  refusals
  rotation
}

root=
suite=bookworm end=deb12
everything "$(apt-get --version | head -1)"

# ---- Older indices stay for a while

restored
for version in 1 2 3 4 5; do make_repository --key "$first" "$repository" "$(make_deb lookout "0.9.$version+deb13")"; done
count=$(find "$repository/dists/trixie/main/binary-$architecture/by-hash" -type f | wc -l)
[ "$count" = 9 ] || fail "$count files by hash, not those of three generations"
rm -r "$repository/pool/trixie/lookout"
make_repository --key "$first" "$repository"
! grep -qx 'Package: lookout' "$repository/dists/trixie/main/binary-$architecture/Packages" || fail 'what left the pool is in the index'

# ---- The keyring's package

cat "$work/first.pgp" "$work/second.pgp" >"$work/both.pgp"
deploy/archive-keyring.sh https://packages.invalid/other 2 "$work/debs" "$work/first.pgp" "$work/second.pgp" >/dev/null
refused 64 'expected https://' deploy/archive-keyring.sh packages.invalid 2 "$work" "$work/first.pgp"
refused 65 'has no keys' deploy/archive-keyring.sh https://packages.invalid 2 "$work" "$work/no.deb"
gpg --batch --export-secret-keys "$first" >"$work/secret.pgp"
refused 65 'has a secret key' deploy/archive-keyring.sh https://packages.invalid 2 "$work" "$work/secret.pgp"
uri=$http
board() {
  dpkg --root="$client" --force-not-root --force-script-chrootless --log=/dev/null "$@" >"$work/out" 2>&1 || fail "dpkg: $(cat "$work/out")"
}
sources=etc/apt/sources.list.d/lookout.sources
for codename in bookworm trixie sid; do
  new_client "$work/client" "$work/first.pgp" bookworm
  echo "VERSION_CODENAME=$codename" >"$client/etc/os-release"
  board --install "$keyring"
  expected=$codename
  [ $codename != sid ] || expected=trixie
  grep -qx "Suites: $expected" "$client/$sources" || fail "$codename: $(cat "$client/$sources")"
done
board --install "$work/debs/lookout-archive-keyring_2_all.deb"
grep -qx 'URIs: https://packages.invalid/other' "$client/$sources" || fail 'the address was not renewed'
cmp "$client/usr/share/keyrings/lookout-archive-keyring.pgp" "$work/both.pgp" || fail 'the keys are not both'
echo '# mine' >>"$client/$sources"
board --install "$keyring"
grep -q '# mine' "$client/$sources" || fail "the owner's file was changed"
rm "$client/$sources"
board --install "$work/debs/lookout-archive-keyring_2_all.deb"
[ ! -e "$client/$sources" ] || fail "what the owner removed came back"
board --purge lookout-archive-keyring
board --install "$keyring"
[ -e "$client/$sources" ] || fail 'it did not come after a purge'
board --remove lookout-archive-keyring
[ ! -e "$client/$sources" ] || fail 'an address without its keys stayed'

# ---- Another Debian's apt

root=${LOOKOUT_APT_ROOT-}
if [ -n "$root" ] && [ "$(id -u)" = 0 ] && [ -x "$root/usr/bin/apt-get" ]; then
  suite=trixie end=deb13
  everything "$(system_run apt-get --version | head -1)"
else
  echo 'not tried: the apt of another Debian (LOOKOUT_APT_ROOT is not set, or this is not root)'
fi
echo passed
