#!/bin/bash
# Have packages of two builds the same files, with the same rights?
#
#   same_contents.sh FOLDER FOLDER
#
# Of the packages of each folder that both have. The libraries of LibTorch are those of PyPI's wheel on arm64, and
# Debian's on amd64; its device `meter` needs LibTorch 2.6. Between architectures these are left out.
set -euo pipefail

contents() { # FOLDER PACKAGE
  dpkg-deb -c "$1/$2"_*.deb | awk '{ print $1, $2, $6 }' | LC_ALL=C sort
}
architecture() { dpkg-deb -f "$1"/lookout_*.deb Architecture; }

for folder in "$@"; do
  compgen -G "$folder/lookout_*.deb" >/dev/null || {
    echo "skipped: there are no packages in $folder" >&2
    exit 77
  }
done
left_out='^$'
[ "$(architecture "$1")" = "$(architecture "$2")" ] ||
  left_out='usr/lib/lookout/(lib(torch|c10|gomp|gfortran|openblas|arm_compute)[^/]*|liblookout-meter)[.]so'
compared=0
for package in lookout lookout-torch lookout-onnxruntime; do
  for folder in "$@"; do
    compgen -G "$folder/${package}_*.deb" >/dev/null || continue 2
  done
  diff <(contents "$1" $package | grep -vE "$left_out") <(contents "$2" $package | grep -vE "$left_out") || {
    echo "FAILED: $package of $1 and of $2 have other files; were they made of one commit?" >&2
    exit 1
  }
  compared=$((compared + 1))
done
[ $compared -gt 0 ] || {
  echo "skipped: $1 and $2 have no package in common" >&2
  exit 77
}
echo "$compared packages have the same files"
