#!/bin/sh
# Unpacks Debian's libcamera for arm64, headers and libraries, without what it depends on.
#
#   get-libcamera.sh SUITE DIR
#
# SUITE may be one of backports, as in trixie-backports. Prints the version: the end of libcamera's
# soname, as in 0.7, and Debian's, as in 0.7.1-1~bpo13+1.
set -eu
suite=$1
mkdir -p "$2"
dir=$(realpath "$2")

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
"$(dirname "$0")/mirrors.sh" "${suite%-backports}" |
  sed -n "s/ ${suite%-backports} main$/ $suite main/p" > "$tmp/sources.list"
mkdir -p "$tmp/lists/partial" "$tmp/archives/partial" "$tmp/etc"
cd "$tmp"
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$tmp/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Dir::Etc::Trusted=/usr/share/keyrings/debian-archive-keyring.gpg \
    -o Dir::State="$tmp" -o Dir::State::status=/dev/null -o Dir::Cache="$tmp" \
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
    -o Acquire::Languages=none "$@"
}
apt update
apt download libcamera-dev
library=$(dpkg-deb -f libcamera-dev_*.deb Depends | grep -o 'libcamera[0-9][0-9.]*' | head -n 1)
apt download "$library"
for deb in *.deb; do
  dpkg-deb -x "$deb" "$dir"
done
rm -rf "${dir:?}/usr/share"
echo "${library#libcamera} $(dpkg-deb -f libcamera-dev_*.deb Version)"
