#!/bin/sh
# Makes the packages for the Raspberry Pi, on a PC with Debian 12: installs what is missing, makes the
# folder with the Pi's libraries, builds and packs. Asks for sudo where root is needed.
#
#   package.sh [trixie]   for Raspberry Pi OS
#   package.sh bookworm   for Raspberry Pi OS (Legacy)
#
#   --weights FILE   the weights of lookout-base, which are downloaded otherwise: base.sh says which
#   --no-base        no lookout-base
#
# The same commit, Debian packages and options make the same bytes, whatever the folder and the day; but on
# another kind of file system, whose folders have other sizes, Installed-Size may be another.
# SOURCE_DATE_EPOCH, if set, is the packages' date instead of the commit's. Packages of the same date and the
# same files are not made again.
set -eu
umask 022  # CPack puts it into the packages
cd "$(dirname "$0")/.."

usage() {
  echo "package.sh: $1: deploy/package.sh [trixie|bookworm] [--weights FILE|--no-base]" >&2
  exit 64
}

suite=
base=yes
weights=
while [ $# != 0 ]; do
  case $1 in
  trixie | bookworm)
    [ -z "$suite" ] || usage "too many arguments"
    suite=$1
    ;;
  --weights)
    [ -n "${2-}" ] || usage "--weights takes a file"
    weights=$(cd "$OLDPWD" && realpath -ms "$2")
    shift
    ;;
  --no-base) base= ;;
  -h | --help)
    sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
    exit
    ;;
  *) usage "unknown release or option '$1'" ;;
  esac
  shift
done
[ -n "$base" ] || [ -z "$weights" ] || usage "--weights is for lookout-base, and --no-base makes none"
case ${suite:=trixie} in
trixie) preset=pi4-trixie ;;
bookworm) preset=pi4 ;;
esac

# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${ID-} ${VERSION_ID-}") || system='another system'
if [ "$system" != 'debian 12' ]; then
  echo "package.sh: this is $system, and packages are made on Debian 12, also in a container: deploy/README.md has the command" >&2
  exit 69
fi

deploy/install-deps.sh --target
if [ -n "$base" ]; then
  base=$PWD/build/base
  deploy/base.sh ${weights:+--weights "$weights"} "$base" || {
    status=$?
    echo 'package.sh: with --no-base the other packages are made' >&2
    exit $status
  }
fi

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
cmake --preset "$preset" "-DLOOKOUT_BASE=$base"
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
  sha256sum build/$preset/lookout*.deb
}
if [ "$(made 2>/dev/null)" != "$(cat "build/$preset/packed" 2>/dev/null)" ]; then
  rm -f build/$preset/lookout*.deb
  cpack --preset "$preset"
  made >"build/$preset/packed"
fi

echo
sha256sum build/$preset/lookout*.deb
program=$(echo build/$preset/lookout_*_arm64.deb)
torch=$(echo build/$preset/lookout-torch_*_arm64.deb)
models=
[ -z "$base" ] || models=$(echo build/$preset/lookout-base_*_all.deb)
cat <<END

Next, with the Pi's user and name. The first line is for this PC, the others for the Pi. For ONNX models take
lookout-onnxruntime instead of lookout-torch, or both:

  scp $program $torch${models:+ $models} USER@raspberrypi.local:
  sudo apt install ./${program##*/} ./${torch##*/}${models:+ ./${models##*/}}
  lookout
END
