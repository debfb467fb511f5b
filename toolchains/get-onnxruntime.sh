#!/bin/sh
# Gets ONNX Runtime, which Debian 12 lacks: the library of the official PyPI wheel, and the headers of
# Debian 13's package, since the wheel has none.
#
#   get-onnxruntime.sh [x86_64|aarch64] [DIR]
#   get-onnxruntime.sh --size    tells what that takes for this machine; nothing when DIR is up to date
#
# For this machine, if not said otherwise. DIR is by default where CMake looks for this machine's:
# onnxruntime-MACHINE in ${LOOKOUT_CACHE}, or in lookout/ of ${XDG_CACHE_HOME} or ~/.cache.
# Does nothing when DIR is up to date.
#
# Not every release runs on a Raspberry Pi 4: 1.21 to 1.23 end there while they are loaded. The C
# interface, whose version the headers tell, stays in later releases.
set -eu

version=1.27.0
size=
[ "${1-}" != --size ] || { size='30 MB to download, 25 MB on the disk'; shift; }  # measured
machine=${1:-$(uname -m)}
case $machine in
  x86_64) sha256=e4f7b0e90d2d212e2c2deaa6c8291616183ab815d3ec558ea12d3ac8b26d36f4 ;;
  aarch64) sha256=2eb083321af8a236a84c7c140a7f4cecbfa2a987a18c07c78db471c20cd390ef ;;
  -h | --help) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"; exit ;;
  *) echo "get-onnxruntime: no ONNX Runtime is pinned for the machine $machine" >&2; exit 69 ;;
esac
platform=manylinux_2_28_$machine
wheel=onnxruntime-$version-cp311-cp311-manylinux_2_27_$machine.$platform.whl

cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
dir=$(realpath -ms "${2:-$cache/onnxruntime-$machine}")
cd "$(dirname "$0")"
. ./apt-of-suite.sh
stamp=$(cat get-onnxruntime.sh | sha256sum | cut -c 1-64)
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
[ -z "$size" ] || { echo "ONNX Runtime: $size."; exit; }

# One at a time; what an earlier one left when it was killed goes.
mkdir -p "$cache"
exec 9>"$cache/onnxruntime.lock"
flock 9
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -rf "$cache"/onnxruntime.??????
tmp=$(mktemp -d "$cache/onnxruntime.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
python3 -m pip download --disable-pip-version-check --no-cache-dir --no-deps \
  --only-binary=:all: --python-version 3.11 --platform "$platform" --dest "$tmp" onnxruntime==$version
if ! echo "$sha256  $tmp/$wheel" | sha256sum --check --status; then
  echo "get-onnxruntime: the wheel $wheel is not the one that is pinned here" >&2
  exit 65
fi
mkdir -p "$tmp/new/lib" "$tmp/apt"
apt_of_suite trixie "$(dpkg --print-architecture)" "$tmp/apt"
(
  cd "$tmp"
  unzip -q "$wheel" 'onnxruntime/capi/libonnxruntime.so.*' onnxruntime/LICENSE \
    onnxruntime/ThirdPartyNotices.txt
  mv onnxruntime/capi/libonnxruntime.so.$version new/lib/libonnxruntime.so.1
  mv onnxruntime/LICENSE onnxruntime/ThirdPartyNotices.txt new
  apt download libonnxruntime-dev
  dpkg-deb -x libonnxruntime-dev_*.deb headers
  mv headers/usr/include/onnxruntime new/include
)
echo "$stamp" > "$tmp/new/stamp"
rm -rf "$dir"
mkdir -p "$(dirname "$dir")"
chmod 755 "$tmp/new"
mv "$tmp/new" "$dir"
echo "$dir is ready"
