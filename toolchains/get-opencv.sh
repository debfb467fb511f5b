#!/bin/sh
# Unpacks OpenCV's source of a Debian release, Debian's patches applied; of its modules those that lookout uses.
#
#   get-opencv.sh SUITE DIR
set -eu
suite=$1
mkdir -p "$2"
dir=$(realpath "$2")
cd "$(dirname "$0")"
. ./apt-of-suite.sh

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
# shellcheck disable=SC2034  # for apt
apt_architecture=$(dpkg --print-architecture) apt_folder=$tmp
# shellcheck disable=SC2154  # of apt-of-suite.sh
./mirrors.sh "$suite" | sed "s,^deb ,deb-src [signed-by=$debian_keyring] ," > "$tmp/sources.list"
mkdir -p "$tmp/lists/partial" "$tmp/archives/partial" "$tmp/etc"
cd "$tmp"
apt update
# In parts, since there are mirrors that lack some .dsc.
apt source --download-only --tar-only opencv
apt source --download-only --diff-only opencv
mkdir -p opencv/contrib
tar -xf opencv_*.orig.tar.xz -C opencv --strip-components=1
tar -xf opencv_*.orig-contrib.tar.xz -C opencv/contrib --strip-components=1
tar -xf opencv_*.debian.tar.xz -C opencv
while read -r patch; do
  patch -s -p1 -d opencv < "opencv/debian/patches/$patch"
done < opencv/debian/patches/series
mkdir -p "$dir/modules"
for part in CMakeLists.txt COPYRIGHT LICENSE cmake data doc include platforms \
    modules/core modules/imgcodecs modules/imgproc; do
  mv "opencv/$part" "$dir/$part"
done
