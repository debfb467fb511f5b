#!/bin/sh
# Makes the root of the target for cross building: Debian's arm64 libraries, LibTorch from the
# official PyPI wheel (Debian's arm64 libtorch has no QNNPACK), libcamera of Debian's backports beside
# that of the suite, and the source of OpenCV, of which the package gets a smaller build than Debian's.
#
#   make-sysroot.sh [bookworm|trixie] [DIR]
#
# DIR is by default where aarch64-linux-gnu.cmake looks: sysroot-SUITE in ${LOOKOUT_CACHE}, or in
# lookout/ of ${XDG_CACHE_HOME} or ~/.cache. The wheel is kept there too. Does nothing when DIR is
# up to date; to take over Debian's latest updates, delete DIR and run again.
# shellcheck disable=SC2016,SC2046,SC2086  # hooks and formats for others to expand; lists to be split
set -eu

packages='libavcodec-dev libavformat-dev libavutil-dev libbenchmark-dev libboost-dev libc6-dev
  libcamera-dev libcli11-dev libcurl4-openssl-dev libeigen3-dev libelf-dev libfmt-dev libgmock-dev libgtest-dev
  libjpeg-dev liblbfgs-dev libmd-dev libminizip-dev libmosquitto-dev libopencv-core-dev
  libopencv-highgui-dev libopencv-imgcodecs-dev libopencv-imgproc-dev libpng-dev libprotozero-dev
  libqrencode-dev libseccomp-dev libspdlog-dev libsqlite3-dev libswscale-dev libsystemd-dev libtiff-dev
  libtomlplusplus-dev liburiparser-dev libutf8proc-dev libwebp-dev libyaml-dev nlohmann-json3-dev'

die() {
  echo "make-sysroot: $*" >&2
  exit 1
}

suite=${1:-bookworm}
case $suite in
  bookworm) gcc=12 ;;
  trixie) gcc=14 ;;
  -h | --help) sed -n '2,/^# shellcheck/{/^# shellcheck/d;s/^# \{0,1\}//;p}' "$0"; exit ;;
  *) die "unknown suite '$suite': bookworm or trixie" ;;
esac
cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
root=$(realpath -ms "${2:-$cache/sysroot-$suite}")
stamp="$suite $(cd "$(dirname "$0")" && cat make-sysroot.sh get-*.sh | sha256sum | cut -c 1-64)"

# What builds for this root: the cross GCC if it is of the target's own version, else clang, as
# aarch64-linux-gnu.cmake chooses. The root can be made without, so this only tells.
tell_tools() {
  missing=
  if [ "$(aarch64-linux-gnu-g++ -dumpversion 2>/dev/null)" != $gcc ] &&
      ! command -v clang++-19 >/dev/null; then
    if grep -qs "^VERSION_CODENAME=$suite$" /etc/os-release; then
      missing=' g++-aarch64-linux-gnu'
    else
      missing=' clang-19 lld-19 llvm-19'
    fi
  fi
  command -v qemu-aarch64-static >/dev/null || command -v qemu-aarch64 >/dev/null ||
    missing="$missing qemu-user-static"
  [ -z "$missing" ] ||
    echo "make-sysroot: to build and test with it: apt-get install$missing" >&2
}

if [ "$(sed -n 's/^stamp=//p' "$root/lookout-sysroot" 2>/dev/null)" = "$stamp" ]; then
  echo "$root is up to date"
  tell_tools
  exit 0
fi

[ ! -e "$root" ] || [ -e "$root/lookout-sysroot" ] || [ -z "$(ls -A "$root")" ] ||
  die "$root exists and is not a sysroot of lookout's"
[ "$(id -u)" = 0 ] ||
  die "mmdebstrap needs root here: sudo LOOKOUT_CACHE='$cache' '$0' $suite '$root'"

missing=
command -v mmdebstrap >/dev/null || missing="$missing mmdebstrap"
command -v unzip >/dev/null || missing="$missing unzip"
command -v patch >/dev/null || missing="$missing patch"
python3 -m pip --version >/dev/null 2>&1 || missing="$missing python3-pip"
[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] ||
  missing="$missing debian-archive-keyring"
[ -z "$missing" ] || die "missing on this machine: apt-get install$missing"

mkdir -p "$cache"
new=$root.new
tmp=$(mktemp -d)
trap 'rm -rf "$tmp" "$new"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$new"

"$(dirname "$0")/make-root.sh" "$suite" "$new" --variant=extract --architectures=arm64 \
  --include="$(echo $packages libstdc++-$gcc-dev | tr ' ' ,)" \
  --dpkgopt='path-exclude=/usr/share/man/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/lib/*/libopencv_*.a' \
  --setup-hook='mkdir -p "$1/usr/lib" "$1/usr/bin" "$1/usr/sbin"' \
  --setup-hook='ln -s usr/lib usr/bin usr/sbin "$1"' \
  --extract-hook='cd "$1/var/cache/apt/archives" && ls *.deb > "$1/packages"' \
  --extract-hook='cd "$1/var/cache/apt/archives" && for deb in *.deb; do
    dpkg-deb --ctrl-tarfile $deb | tar -xO ./shlibs 2>/dev/null || :
  done | sort -u > "$1/shlibs"'

# The emulator looks up every absolute path in the sysroot first: leave only libraries there.
find "$new" -mindepth 1 -maxdepth 1 ! -name usr ! -name lib ! -name packages ! -name shlibs \
  -exec rm -rf {} +
rm -rf "${new:?}/usr/bin" "$new/usr/sbin"

find "$new" -type l -lname '/*' | while read -r link; do
  ln -snf "$(realpath -ms --relative-to="${link%/*}" "$new$(readlink "$link")")" "$link"
done
# These are made by update-alternatives where packages are configured.
for lib in blas lapack; do
  ln -snf $lib/lib$lib.so.3 "$new/usr/lib/aarch64-linux-gnu/lib$lib.so.3"
done

here=$(dirname "$0")
"$here/get-opencv.sh" "$suite" "$new/usr/src/opencv"
"$here/get-libtorch.sh" aarch64 "$new/opt/libtorch"

# libcamera of the suite's backports, for which the package has a module, too.
set -- $("$here/get-libcamera.sh" "$suite-backports" "$tmp/libcamera" arm64)
mkdir "$new/opt/libcamera"
mv "$tmp/libcamera" "$new/opt/libcamera/$1"

# Also an engine, of a package of its own.
"$here/get-onnxruntime.sh" aarch64 "$new/opt/onnxruntime"

# Libraries choose kernels by these: let the emulator show them a Raspberry Pi 4.
mkdir -p "$new/proc" "$new/sys/devices/system/cpu"
for cpu in 0 1 2 3; do
  printf '%s\t: %s\n' processor $cpu BogoMIPS 108.00 Features 'fp asimd evtstrm crc32 cpuid' \
    'CPU implementer' 0x41
  printf 'CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd08\nCPU revision\t: 3\n\n'
done > "$new/proc/cpuinfo"
for list in possible present online; do
  echo 0-3 > "$new/sys/devices/system/cpu/$list"
done

printf '%s\n' "suite=$suite" "gcc=$gcc" "libtorch=$(cat "$new/opt/libtorch/version")" "stamp=$stamp" \
  > "$new/lookout-sysroot"
rm -rf "$root"
mv "$new" "$root"
echo "$root is ready ($(du -sh "$root" | cut -f 1))"
tell_tools
