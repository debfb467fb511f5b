#!/bin/sh
# Makes the packages for the Raspberry Pi, on a PC with Debian 12: installs what is missing, makes the
# folder with the Pi's libraries, builds and packs. Asks for sudo where root is needed.
#
#   package.sh [trixie]   for Raspberry Pi OS
#   package.sh bookworm   for Raspberry Pi OS (Legacy)
#
# The same commit, Debian packages and options make the same bytes, whatever the folder and the day; but on
# another kind of file system, whose folders have other sizes, Installed-Size may be another.
# SOURCE_DATE_EPOCH, if set, is the packages' date instead of the commit's. Packages of the same date and the
# same files are not made again.
set -eu
umask 022  # CPack puts it into the packages
cd "$(dirname "$0")/.."

usage() {
  echo "package.sh: $1: deploy/package.sh [trixie|bookworm]" >&2
  exit 64
}

[ $# -le 1 ] || usage "too many arguments"
suite=${1-trixie}
case $suite in
trixie) preset=pi4-trixie ;;
bookworm) preset=pi4 ;;
-h | --help)
  sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
  exit
  ;;
*) usage "unknown release '$suite'" ;;
esac

# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${ID-} ${VERSION_ID-}") || system='another system'
if [ "$system" != 'debian 12' ]; then
  echo "package.sh: this is $system, and packages are made on Debian 12, also in a container: deploy/README.md has the command" >&2
  exit 69
fi

deploy/install-deps.sh --target

# The container's root may read the checkout of another user.
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
  SOURCE_DATE_EPOCH=$(git -c safe.directory='*' log -1 --format=%ct) || {
    echo 'package.sh: the date of the packages is that of the commit, and this is no git checkout: set SOURCE_DATE_EPOCH' >&2
    exit 66
  }
fi
export SOURCE_DATE_EPOCH
export LOOKOUT_CACHE="${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}"

if [ "$(id -u)" = 0 ]; then
  toolchains/make-sysroot.sh "$suite"
elif ! toolchains/make-sysroot.sh "$suite" 2>/dev/null; then  # it has to be made, by root
  mkdir -p "$LOOKOUT_CACHE"
  sudo LOOKOUT_CACHE="$LOOKOUT_CACHE" toolchains/make-sysroot.sh "$suite"
fi
cmake --preset "$preset"
cmake --build --preset "$preset"

# Packing takes minutes: packages stay that were made of the same files.
stage=$(mktemp -d -p "$PWD/build/$preset" installed.XXXXXX)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage cmake --install "build/$preset" >/dev/null
sysroot=$(sed -n 's/^set(CPACK_LOOKOUT_SYSROOT "\(.*\)")$/\1/p' "build/$preset/CPackConfig.cmake")
contents=$(
  export LC_ALL=C
  echo "$SOURCE_DATE_EPOCH"
  sha256sum "build/$preset/CPackConfig.cmake" "$sysroot/shlibs" deploy/depends.cmake deploy/debian/*
  cd "$stage"
  find . -printf '%M %p %l\n' | sort
  find . -type f -exec sha256sum {} + | sort
)
rm -rf "$stage"
made() {
  echo "$contents"
  sha256sum build/$preset/lookout*_arm64.deb
}
if [ "$(made 2>/dev/null)" != "$(cat "build/$preset/packed" 2>/dev/null)" ]; then
  rm -f build/$preset/lookout*_arm64.deb
  cpack --preset "$preset"
  made >"build/$preset/packed"
fi

echo
sha256sum build/$preset/lookout*_arm64.deb
program=$(echo build/$preset/lookout_*_arm64.deb)
torch=$(echo build/$preset/lookout-torch_*_arm64.deb)
cat <<END

Next, with the Pi's user and name. The first line is for this PC, the others for the Pi. For ONNX models take
lookout-onnxruntime instead of lookout-torch, or both:

  scp $program $torch USER@raspberrypi.local:
  sudo apt install ./${program##*/} ./${torch##*/}
  lookout
END
