#!/bin/sh
# Gets LibTorch of the official PyPI wheel, headers and libraries: Debian's for arm64 has no QNNPACK, which
# quantized TorchScript archives need.
#
#   get-libtorch.sh aarch64 [DIR]
#   get-libtorch.sh --size    tells what that takes for this machine; nothing when DIR is up to date
#
# DIR is by default where CMake looks on such a machine: libtorch-aarch64 in ${LOOKOUT_CACHE}, or in lookout/
# of ${XDG_CACHE_HOME} or ~/.cache. The wheel is kept there, too. Does nothing when DIR is up to date.
# For other machines Debian's is used, and none is pinned (exit status 69).
set -eu

version=2.9.1
size=
[ "${1-}" != --size ] || { size='104 MB to download, 400 MB on the disk'; shift; }  # measured
machine=${1:-$(uname -m)}
case $machine in
  aarch64) sha256=62b3fd888277946918cba4478cf849303da5359f0fb4e3bfb86b0533ba2eaf8d ;;
  -h | --help) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"; exit ;;
  *) echo "get-libtorch: no LibTorch is pinned for the machine $machine" >&2; exit 69 ;;
esac
wheel=torch-$version-cp311-cp311-manylinux_2_28_$machine.whl

cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
dir=$(realpath -ms "${2:-$cache/libtorch-$machine}")
stamp=$(sha256sum < "$0" | cut -c 1-64)
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
[ -z "$size" ] || { echo "LibTorch: $size."; exit; }

# One at a time; what an earlier one left when it was killed goes.
mkdir -p "$cache" "$(dirname "$dir")"
exec 9>"$cache/libtorch.lock"
flock 9
[ "$(cat "$dir/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
rm -rf "$dir".new.??????
tmp=$(mktemp -d "$dir.new.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# Verified also when it comes from the cache.
is_good() { echo "$sha256  $cache/$wheel" | sha256sum --check --status 2>/dev/null; }
if ! is_good; then
  rm -f "$cache/$wheel"
  python3 -m pip download --disable-pip-version-check --quiet --no-deps --only-binary=:all: \
    --python-version 3.11 --platform "manylinux_2_28_$machine" --dest "$cache" torch==$version
  is_good || {
    rm -f "$cache/$wheel"
    echo "get-libtorch: the wheel $wheel is not the one that is pinned here" >&2
    exit 65
  }
fi

# All libraries in one folder: libtorch_cpu.so finds the others by its RPATH, which has $ORIGIN.
# Its copies of fmt, protobuf and pybind11 would hide Debian's, of other versions.
unzip -q "$cache/$wheel" 'torch/include/*' 'torch/lib/*.so' 'torch/share/cmake/*' \
  'torch.libs/*' '*.dist-info/licenses/*' \
  -x 'torch/lib/libtorch_python.so' 'torch/lib/libshm.so' 'torch/lib/libtorch_global_deps.so' \
  'torch/include/fmt/*' 'torch/include/google/*' 'torch/include/pybind11/*' \
  -d "$tmp"
mkdir "$tmp/new"
mv "$tmp/torch/include" "$tmp/torch/lib" "$tmp/torch/share" "$tmp"/*.dist-info/licenses "$tmp/new"
mv "$tmp/torch.libs"/* "$tmp/new/lib"
printf '%s\n' "$version" > "$tmp/new/version"
echo "$stamp" > "$tmp/new/stamp"
rm -rf "$dir"
mv "$tmp/new" "$dir"
echo "$dir is ready"
