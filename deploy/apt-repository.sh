#!/bin/bash
# Makes the signed APT repository of the packages, for Raspberry Pi OS and Debian 12 and 13, or adds packages to it.
#
#   apt-repository.sh --key FINGERPRINT [--key FINGERPRINT] OUT [DEB...]
#
# OUT/pool is all that it remembers: every package that was ever added, so that boards can go back. The
# indices in OUT/dists are made of it again each time. A package's suite is what its version ends with,
# +deb12 or +deb13; the keyring's package is in both. To take a package back, remove it from the pool and
# call this without one.
#
#   --key   a key of gpg that signs; twice while boards change from one to the next: apt takes either
#
# Nothing is signed that does not verify, and OUT is changed in an order in which boards that read it in the
# meantime see the old or the new one. To copy it elsewhere, keep this order: pool, dists/*/main, and then
# Release, Release.gpg, and InRelease last.
#
# Exit status: 64 usage, 65 a package that cannot be added, 69 apt-ftparchive, gpg or gpgv is missing, 77 no key.
set -euo pipefail
umask 022
export LC_ALL=C

suites=(bookworm trixie)
architectures='amd64 arm64'
keyring=lookout-archive-keyring
generations=3  # of indices, for boards that have read an older InRelease

fail() {
  echo "apt-repository.sh: $2" >&2
  exit "$1"
}

keys=()
while [ $# != 0 ]; do
  case $1 in
  --key)
    [ -n "${2-}" ] || fail 64 '--key takes a fingerprint'
    keys+=("$2")
    shift 2
    ;;
  -h | --help)
    sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
    exit
    ;;
  -*) fail 64 "unknown option '$1'" ;;
  *) break ;;
  esac
done
[ $# != 0 ] || fail 64 'expected --key FINGERPRINT OUT DEB...; --help tells more'
[ ${#keys[@]} != 0 ] || fail 64 '--key FINGERPRINT is missing: gpg --list-secret-keys shows them'
for program in apt-ftparchive:apt-utils gpg:gpg gpgv:gpgv dpkg-deb:dpkg xz:xz-utils; do
  command -v "${program%:*}" >/dev/null || fail 69 "there is no ${program%:*}: apt install ${program#*:}"
done
for key in "${keys[@]}"; do
  gpg --batch --list-secret-keys "$key" >/dev/null 2>&1 || fail 77 "gpg has no secret key $key"
done
out=$1
shift
mkdir -p "$out/pool"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

field() { dpkg-deb -f "$1" "$2" 2>/dev/null || :; }

# The suites that a package is for, one a line.
suites_of() {
  local package version
  package=$(field "$1" Package)
  version=$(field "$1" Version)
  if [ -z "$package" ] || [ -z "$version" ]; then fail 65 "$1 is not a package of Debian"; fi
  case $version in
  *+deb12) echo bookworm ;;
  *+deb13) echo trixie ;;
  *)
    [ "$package" = $keyring ] || fail 65 "$1: its version $version ends neither with +deb12 nor with +deb13"
    printf '%s\n' "${suites[@]}"
    ;;
  esac
}

# All are looked at before the first is added.
: >"$work/copies"
for deb in "$@"; do
  [ -f "$deb" ] || fail 65 "$deb: there is no such file"
  found=$(suites_of "$deb") || exit
  package=$(field "$deb" Package)
  version=$(field "$deb" Version)
  architecture=$(field "$deb" Architecture)
  case " $architectures all " in
  *" $architecture "*) ;;
  *) fail 65 "$deb: it is for $architecture, and the repository for $architectures" ;;
  esac
  for suite in $found; do
    target=pool/$suite/$package/${package}_${version#*:}_$architecture.deb
    if [ -e "$out/$target" ]; then
      cmp -s "$deb" "$out/$target" || fail 65 "$deb: the pool has another file of this name and version: give it a new version"
      continue
    fi
    other=$(awk -F '\t' -v target="$target" '$2 == target { print $1; exit }' "$work/copies")
    if [ -n "$other" ]; then
      cmp -s "$deb" "$other" || fail 65 "$deb: $other has this name and version, too, and is another file"
      continue
    fi
    printf '%s\t%s\n' "$(realpath "$deb")" "$target" >>"$work/copies"
  done
done
while IFS=$'\t' read -r deb target; do
  mkdir -p "$(dirname "$out/$target")"
  install -m644 "$deb" "$out/$target.part"
  mv "$out/$target.part" "$out/$target"
  echo "added $target"
done <"$work/copies"

# What boards verify with: the public halves of these keys.
gpg --batch --export "${keys[@]}" >"$work/keyring.pgp"
signers=()
for key in "${keys[@]}"; do signers+=(--local-user "$key"); done

make_suite() {
  local suite=$1 new=$work/$1 architecture index file hash
  mkdir -p "$out/pool/$suite"
  for architecture in $architectures; do
    index=$new/main/binary-$architecture
    mkdir -p "$index"
    (cd "$out" && apt-ftparchive --arch "$architecture" packages "pool/$suite") >"$index/Packages"
    gzip -9nk "$index/Packages"
    xz -k "$index/Packages"
  done
  apt-ftparchive -o APT::FTPArchive::Release::Origin=lookout -o APT::FTPArchive::Release::Label=lookout \
    -o APT::FTPArchive::Release::Suite="$suite" -o APT::FTPArchive::Release::Codename="$suite" \
    -o APT::FTPArchive::Release::Components=main -o APT::FTPArchive::Release::Architectures="$architectures" \
    -o APT::FTPArchive::Release::Acquire-By-Hash=yes -o APT::FTPArchive::MD5=false \
    -o APT::FTPArchive::SHA1=false -o APT::FTPArchive::SHA512=false release "$new" >"$work/Release"
  mv "$work/Release" "$new/Release"
  gpg --batch --yes "${signers[@]}" --digest-algo SHA512 --clearsign --output "$new/InRelease" "$new/Release"
  gpg --batch --yes "${signers[@]}" --digest-algo SHA512 --armor --detach-sign --output "$new/Release.gpg" "$new/Release"
  if ! gpgv --quiet --keyring "$work/keyring.pgp" "$new/InRelease" 2>"$work/gpgv" ||
    ! gpgv --quiet --keyring "$work/keyring.pgp" "$new/Release.gpg" "$new/Release" 2>>"$work/gpgv"; then
    fail 77 "what was signed does not verify: $(cat "$work/gpgv")"
  fi
  for architecture in $architectures; do
    index=main/binary-$architecture
    mkdir -p "$new/$index/by-hash/SHA256"
    for file in Packages Packages.gz Packages.xz; do
      hash=$(sha256sum "$new/$index/$file")
      cp "$new/$index/$file" "$new/$index/by-hash/SHA256/${hash%% *}"
    done
  done
}

# place FILE TARGET: readers see the old one or the new one.
place() {
  install -m644 "$1" "$2.part"
  mv "$2.part" "$2"
}

publish() {
  local suite=$1 architecture index hashes file
  for architecture in $architectures; do
    index=main/binary-$architecture
    hashes=$index/by-hash/SHA256
    mkdir -p "$out/dists/$suite/$hashes"
    for file in "$work/$suite/$hashes"/* "$work/$suite/$index"/Packages*; do
      place "$file" "$out/dists/$suite/${file#"$work/$suite/"}"
    done
    # shellcheck disable=SC2012  # the names are hexadecimal numbers
    (cd "$out/dists/$suite/$hashes" && ls -t | tail -n +$((3 * generations + 1)) | xargs -r rm)
  done
  for file in Release Release.gpg InRelease; do
    place "$work/$suite/$file" "$out/dists/$suite/$file"
  done
}

for suite in "${suites[@]}"; do make_suite "$suite"; done
for suite in "${suites[@]}"; do publish "$suite"; done
echo "signed by ${keys[*]}"
for key in "${keys[@]}"; do
  ends=$(gpg --batch --with-colons --list-keys "$key" | awk -F: '$1 == "pub" { print $7; exit }')
  [ -z "$ends" ] || echo "boards refuse the repository from $(date -u -d "@$ends" +%F) on, when the key $key ends"
done
