#!/bin/bash
# The steps of a release, which .github/workflows/release.yml calls; each runs on any machine that has its tools.
#
#   release.sh check TAG               TAG is v and the version in CMakeLists.txt
#   release.sh build SUITE ARCHITECTURE OUT
#                                      packages of bookworm or trixie, for arm64 or amd64, in OUT: by package.sh, in
#                                      a container of Debian where this is not the one that it needs;
#                                      on a PC
#   release.sh install SUITE DEB...    installs them by apt in a new root of their architecture, needs root, and
#                                      classifies the test patterns there with each engine
#   release.sh draft TAG DEB...        SHA256SUMS and a draft of the release, by gh
#   release.sh publish TARGET DEB...   adds them to the APT repository at TARGET, a folder or an address of rsync
#   release.sh announce TAG            the draft becomes the release
#
# publish: LOOKOUT_ARCHIVE_KEYS has the secret keys that sign, as gpg --armor --export-secret-subkeys writes
# them without a passphrase. They are imported into a folder that is removed at the end. With LOOKOUT_ARCHIVE_URL,
# where boards find the repository, the package of the keys is added, too, whenever keys or address changed; its
# SHA-256 is printed. On a runner of GitHub, TARGET has to be an address: its folders go with it.
#
# Exit status: 64 usage, 65 a wrong tag or package, 69 a tool is missing, 77 no key or not root.
set -euo pipefail
home=$(cd "$(dirname "$0")/.." && pwd)

fail() {
  echo "release.sh: $2" >&2
  exit "$1"
}

need() { command -v "$1" >/dev/null || fail 69 "there is no $1: apt install ${2-$1}"; }

check() {
  local version
  version=$(sed -n 's/^project(lookout VERSION \([0-9.]*\).*/\1/p' "$home/CMakeLists.txt")
  [ "$1" = "v$version" ] || fail 65 "the tag is $1, and CMakeLists.txt has version $version: expected v$version"
}

build() {
  local suite=$1 architecture=$2 out=$3 preset=native arguments=(--native --no-base) release=12 system
  case $architecture:$suite in
  arm64:bookworm) preset=pi4 arguments=(bookworm) ;;
  arm64:trixie) preset=pi4-trixie arguments=(trixie) ;;
  amd64:trixie) release=13 ;;
  esac
  [ "$(uname -m)" = x86_64 ] || fail 69 'the packages of a release are built on a PC (x86-64)'
  # shellcheck source=/dev/null
  system=$(. /etc/os-release && echo "${ID-} ${VERSION_ID-}")
  if [ "$system" = "debian $release" ]; then
    "$home/deploy/package.sh" "${arguments[@]}"
  else
    need docker docker.io
    docker run --rm -v "$home:/lookout" "docker.io/library/debian:$release" /lookout/deploy/package.sh "${arguments[@]}"
  fi
  mkdir -p "$out"
  cp "$home/build/$preset"/lookout*.deb "$out"
}

install() {
  local suite=$1 work root deb architecture found
  shift
  [ "$(id -u)" = 0 ] || fail 77 'only root can make a root'
  need mmdebstrap
  architecture=$(dpkg --print-architecture)
  for deb in "$@"; do
    found=$(dpkg-deb -f "$deb" Architecture) || fail 65 "$deb is not a package of Debian"
    [ "$found" = all ] || architecture=$found
  done
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # that folder
  trap "rm -rf --one-file-system '$work'" EXIT
  root=$work/root
  "$home/toolchains/make-root.sh" "$suite" "$root" --variant=apt --architectures="$architecture"
  mkdir "$root/packages"
  cp "$@" "$root/packages"
  # The loader finds libraries beside a program by /proc.
  # shellcheck disable=SC2016  # another shell expands it
  in_root() {
    unshare --mount sh -ec 'mount -t proc proc "$0/proc"
      exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@"
  }
  in_root sh -ec 'apt-get install -y --no-install-recommends /packages/*.deb'
  # shellcheck disable=SC2016  # another shell expands it
  in_root sh -ec 'for model in /usr/share/lookout/selftest.*; do
      case $model in
      *.pt | *.onnx) lookout "test://all?frames=16" --model "$model" ;;
      esac
    done'
  in_root apt-get purge -y lookout
}

draft() {
  local tag=$1 sums
  shift
  need gh
  sums=$(mktemp -d)
  (cd "$(dirname "$1")" && sha256sum -- "${@##*/}") >"$sums/SHA256SUMS"
  gh release create "$tag" --draft --verify-tag --title "$tag" --generate-notes "$@" "$sums/SHA256SUMS"
  rm -r "$sums"
}

# keyring_package POOL OUT: makes it in OUT, unless POOL has one with these keys and this address.
keyring_package() {
  local pool=$1 out=$2 newest
  mkdir "$out"
  gpg --batch --export >"$out/keys.pgp"
  newest=$(find "$pool" -name 'lookout-archive-keyring_*.deb' | sort -V | tail -n 1)
  if [ -n "$newest" ]; then
    dpkg-deb -x "$newest" "$out/newest"
    if cmp -s "$out/keys.pgp" "$out/newest/usr/share/keyrings/lookout-archive-keyring.pgp" &&
      grep -qxF "URIs: $LOOKOUT_ARCHIVE_URL" "$out/newest/usr/share/lookout-archive-keyring/lookout.sources"; then
      return
    fi
  fi
  "$home/deploy/archive-keyring.sh" "$LOOKOUT_ARCHIVE_URL" "$(date -u +%Y.%m.%d.%H%M%S)" "$out" "$out/keys.pgp"
}

publish() {
  local target=$1 work deb keys=()
  shift
  need rsync
  case ${GITHUB_ACTIONS-}:$target in
  :* | *:*:*) ;;
  *) fail 64 "$target is a folder of this runner, which goes with it: expected an address, as HOST:FOLDER" ;;
  esac
  [ -n "${LOOKOUT_ARCHIVE_KEYS-}" ] || fail 77 'LOOKOUT_ARCHIVE_KEYS has no key'
  work=$(mktemp -d)
  # shellcheck disable=SC2064  # that folder
  trap "gpgconf --homedir '$work/gpg' --kill all; rm -rf '$work'" EXIT
  export GNUPGHOME=$work/gpg
  mkdir -m700 "$GNUPGHOME"
  gpg --batch --quiet --import <<<"$LOOKOUT_ARCHIVE_KEYS"
  mapfile -t keys < <(gpg --batch --with-colons --list-secret-keys |
    awk -F: '$1 == "sec" { first = 1 } $1 == "fpr" && first { print "--key"; print $10; first = 0 }')
  [ ${#keys[@]} != 0 ] || fail 77 'LOOKOUT_ARCHIVE_KEYS has no secret key'
  mkdir "$work/repository"
  # The first release makes the folder; on a server if the one above it is there.
  case $target in
  *:*) rsync --dirs "$work/repository/" "$target/" ;;
  *) mkdir -p "$target" ;;
  esac
  # The pool is what the repository remembers, and by-hash is what boards may be reading.
  rsync -a "$target/" "$work/repository/"
  if [ -n "${LOOKOUT_ARCHIVE_URL-}" ]; then
    keyring_package "$work/repository" "$work/keyring"
    for deb in "$work/keyring"/*.deb; do
      [ ! -e "$deb" ] || set -- "$@" "$deb"
    done
  fi
  "$home/deploy/apt-repository.sh" "${keys[@]}" "$work/repository" "$@"
  # In an order in which boards see the old or the new one.
  rsync -a --exclude='/dists/*/*Release*' "$work/repository/" "$target/"
  rsync -a --exclude=InRelease "$work/repository/" "$target/"
  rsync -a --delete "$work/repository/" "$target/"
}

announce() { need gh && gh release edit "$1" --draft=false; }

command=${1-}
shift || :
case $command:$# in
check:1 | announce:1) "$command" "$@" ;;
build:3)
  case $1:$2 in
  bookworm:arm64 | bookworm:amd64 | trixie:arm64 | trixie:amd64) build "$@" ;;
  *) fail 64 "build: expected bookworm or trixie, and arm64 or amd64" ;;
  esac
  ;;
install:[2-9]* | install:1?* | draft:[2-9]* | publish:[2-9]*)
  case $command:$1 in
  install:bookworm | install:trixie | draft:v* | publish:*) "$command" "$@" ;;
  *) fail 64 "$command: unexpected '$1'; --help tells more" ;;
  esac
  ;;
--help:* | -h:*) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" ;;
*) fail 64 'expected a step and its arguments; --help tells more' ;;
esac
