#!/bin/sh
# Unpacks Debian's libcamera, headers and libraries, without what it depends on.
#
#   get-libcamera.sh SUITE DIR [ARCHITECTURE]
#
# SUITE may be one of backports, as in trixie-backports. ARCHITECTURE is that of this machine, if not said
# otherwise. Prints the version: the end of libcamera's
# soname, as in 0.7, and Debian's, as in 0.7.1-1~bpo13+1.
set -eu
suite=$1
architecture=${3:-$(dpkg --print-architecture)}
mkdir -p "$2"
dir=$(realpath "$2")
cd "$(dirname "$0")"
. ./apt-of-suite.sh

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
apt_of_suite "$suite" "$architecture" "$tmp"
cd "$tmp"
apt download libcamera-dev
library=$(dpkg-deb -f libcamera-dev_*.deb Depends | grep -o 'libcamera[0-9][0-9.]*' | head -n 1)
apt download "$library"
for deb in *.deb; do
  dpkg-deb -x "$deb" "$dir"
done
rm -rf "${dir:?}/usr/share"
echo "${library#libcamera} $(dpkg-deb -f libcamera-dev_*.deb Version)"
