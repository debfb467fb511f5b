#!/bin/sh
# Gets what packages of this machine's own release need beside Debian's packages, laid out as in a sysroot of
# make-sysroot.sh: the source of OpenCV in usr/src/opencv, and libcamera of Debian's backports in
# opt/libcamera/VERSION.
#
#   make-package-root.sh [DIR]
#
# DIR is by default where CMake looks: package-SUITE in ${LOOKOUT_CACHE}, or in lookout/ of ${XDG_CACHE_HOME}
# or ~/.cache. Does nothing when DIR is up to date; to take over Debian's latest updates, delete DIR.
set -eu

case ${1-} in
  -h | --help) sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"; exit ;;
esac
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
root=$(realpath -ms "${1:-$cache/package-$suite}")
cd "$(dirname "$0")"
stamp="$suite $(cat make-package-root.sh apt-of-suite.sh get-libcamera.sh get-opencv.sh | sha256sum | cut -c 1-64)"
[ "$(cat "$root/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

mkdir -p "$(dirname "$root")"
new=$root.new
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
rm -rf "$new"
mkdir -p "$new/usr/src" "$new/opt/libcamera"
./get-opencv.sh "$suite" "$new/usr/src/opencv"
version=$(./get-libcamera.sh "$suite-backports" "$new/libcamera")
mv "$new/libcamera" "$new/opt/libcamera/${version%% *}"
echo "$stamp" > "$new/stamp"
rm -rf "$root"
mv "$new" "$root"
echo "$root is ready"
