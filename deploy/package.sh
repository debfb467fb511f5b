#!/bin/sh
# Makes the packages: installs what is missing, gets what Debian does not package, builds and packs. Asks for sudo
# where root is needed. For the Raspberry Pi on a PC with Debian 12, or on the Pi; for a PC on that PC.
#
#   package.sh [trixie]   for Raspberry Pi OS, on a PC with Debian 12
#   package.sh bookworm   for Raspberry Pi OS (Legacy), on a PC with Debian 12
#   package.sh --native   for the system that it runs on: Debian 12 or 13 (Raspberry Pi OS is one), amd64 or arm64.
#                         On arm64 it needs not be said
#
#   --weights FILE   the weights of lookout-base, which are downloaded otherwise: base.sh says which
#   --no-base        no lookout-base, which on arm64 is never made: it is the same on all, and takes a PC
#
# The same commit, Debian packages and options make the same bytes, whatever the folder and the day; but on
# another kind of file system, whose folders have other sizes, Installed-Size may be another.
# SOURCE_DATE_EPOCH, if set, is the packages' date instead of the commit's. Packages of the same date and the
# same files are not made again.
set -eu
umask 022  # CPack puts it into the packages
cd "$(dirname "$0")/.."

usage() {
  echo "package.sh: $1: deploy/package.sh [trixie|bookworm|--native] [--weights FILE|--no-base]" >&2
  exit 64
}

suite=
base=yes
weights=
while [ $# != 0 ]; do
  case $1 in
  trixie | bookworm | --native)
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
# shellcheck source=/dev/null
system=$(. /etc/os-release && echo "${ID-} ${VERSION_ID-}") || system='another system'
architecture=$(dpkg --print-architecture 2>/dev/null) || architecture=$(uname -m)
case $system in
'debian 12') own=bookworm ;;
'debian 13') own=trixie ;;
*) own= ;;
esac
refuse() {
  echo "package.sh: this is $system on $architecture, and $1: deploy/README.md has the command" >&2
  exit 69
}

if [ "$architecture" = arm64 ] && [ "${suite:-$own}" = "$own" ]; then
  suite=--native
fi
case ${suite:=trixie} in
trixie) preset=pi4-trixie list=target ;;
bookworm) preset=pi4 list=target ;;
--native) preset=native list=package suite=$own ;;
esac
if [ "$preset" = native ]; then
  case $architecture in
  amd64 | arm64) ;;
  *) own= ;;
  esac
  [ -n "$own" ] ||
    refuse 'packages for the own system are made on Debian 12 and 13, amd64 and arm64, also in a container'
else
  architecture=arm64
  [ "$system" = 'debian 12' ] || refuse "packages for another system are made on Debian 12, also in a container"
fi
if [ "$preset" = native ] && [ "$architecture" = arm64 ] && [ -n "$base" ]; then
  base=
  echo 'package.sh: no lookout-base: that of a PC or of the APT repository is the same on every board'
fi

# Measured on two processors of a server of 2023; an older PC takes three times as long, a Raspberry Pi 4 six times
# (estimated).
seconds=420
echo "$architecture, $suite: compiling takes $((seconds / $(nproc) / 60 + 1)) to" \
  "$((seconds * 6 / $(nproc) / 60 + 1)) minutes on $(nproc) processors, packing 2 to 10, and both 700 MB on the disk," \
  "without what is installed."
export LOOKOUT_CACHE="${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}"
if [ "$preset" != native ] && [ ! -e "$LOOKOUT_CACHE/sysroot-$suite/lookout-sysroot" ]; then  # measured: 8 and 23 minutes
  echo "Before that, once, the folder with the Pi's libraries: 8 to 25 minutes, and 1.6 GB in $LOOKOUT_CACHE."
fi

deploy/install-deps.sh "--$list"
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
if [ "$preset" = native ]; then
  toolchains/make-package-root.sh
elif [ "$(id -u)" = 0 ]; then
  toolchains/make-sysroot.sh "$suite"
elif ! toolchains/make-sysroot.sh "$suite" 2>/dev/null; then  # it has to be made, by root
  mkdir -p "$LOOKOUT_CACHE"
  sudo LOOKOUT_CACHE="$LOOKOUT_CACHE" toolchains/make-sysroot.sh "$suite"
fi
set -- "-DLOOKOUT_BASE=$base"
# As the toolchain's file says: no instruction that a Raspberry Pi 4 lacks.
[ "$preset $architecture" != 'native arm64' ] || set -- "$@" '-DCMAKE_CXX_FLAGS=-march=armv8-a+crc -mtune=cortex-a72'
cmake --preset "$preset" "$@"
cmake --build --preset "$preset"

# Packing takes minutes: packages stay that were made of the same files.
stage=$(mktemp -d -p "$PWD/build/$preset" installed.XXXXXX)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage cmake --install "build/$preset" >/dev/null
sysroot=$(sed -n 's/^set(CPACK_LOOKOUT_SYSROOT "\(.*\)")$/\1/p' "build/$preset/CPackConfig.cmake")
contents=$(
  export LC_ALL=C
  echo "$SOURCE_DATE_EPOCH"
  if [ -n "$sysroot" ]; then cat "$sysroot/shlibs"; else cat /var/lib/dpkg/info/*.shlibs; fi | sha256sum
  sha256sum "build/$preset/CPackConfig.cmake" deploy/depends.cmake deploy/debian/*
  cd "$stage"
  find . -printf '%M %p %l\n' | sort
  find . -type f -exec sha256sum {} + | sort
)
rm -rf "$stage"
made() {
  echo "$contents"
  sha256sum build/"$preset"/lookout*.deb
}
if [ "$(made 2>/dev/null)" != "$(cat "build/$preset/packed" 2>/dev/null)" ]; then
  rm -f build/"$preset"/lookout*.deb
  cpack --preset "$preset"
  made >"build/$preset/packed"
fi

echo
sha256sum build/"$preset"/lookout*.deb
debs=$(echo build/"$preset"/lookout_*_"$architecture".deb)
for package in lookout-torch lookout-onnxruntime; do  # one engine
  debs="$debs $(echo build/"$preset"/${package}_*_"$architecture".deb)"
  [ ! -e "${debs##* }" ] || break
  debs=${debs% *}
done
[ -z "$base" ] || debs="$debs $(echo build/"$preset"/lookout-base_*_all.deb)"
files=
for deb in $debs; do
  files="$files ./${deb##*/}"
done
if [ "$preset" = native ]; then
  cat <<END

Next. For ONNX models take lookout-onnxruntime instead of lookout-torch, or both:

  cd build/$preset
  sudo apt install$files
  lookout
END
  exit
fi
cat <<END

Next, with the Pi's user and name. The first line is for this PC, the others for the Pi. For ONNX models take
lookout-onnxruntime instead of lookout-torch, or both:

  scp $debs USER@raspberrypi.local:
  sudo apt install$files
  lookout
END
