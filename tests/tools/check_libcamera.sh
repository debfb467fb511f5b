#!/bin/sh
# Compiles the module for libcamera with every libcamera that Debian has, and links it with that suite's
# arm64 libraries: a release that breaks it is seen here before its users see it.
#
#   check_libcamera.sh [SUITE...]
#
# Exit status 77 (skipped) without a compiler for arm64.
set -eu
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- bookworm bookworm-backports trixie trixie-backports forky

compiler=aarch64-linux-gnu-g++
command -v $compiler >/dev/null || {
  echo "skipped: no $compiler"
  exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for suite; do
  version=$(toolchains/get-libcamera.sh "$suite" "$work/$suite" arm64)
  libraries=$work/$suite/usr/lib/aarch64-linux-gnu
  # The libraries' own needs are not looked at.
  $compiler -std=c++17 -O2 -Wall -Wextra -Wpedantic -Werror -fPIC -shared \
    -isystem "$work/$suite/usr/include/libcamera" platform/libcamera/libcamera_module.cpp -o "$work/module.so" \
    -Wl,-z,defs -Wl,--allow-shlib-undefined "$libraries/libcamera.so" "$libraries/libcamera-base.so" || {
    echo "check_libcamera.sh: $suite: not with libcamera ${version#* }" >&2
    exit 1
  }
  needed=$(nm -D --undefined-only "$work/module.so" | grep -c '_ZN.*9libcamera')
  echo "$suite: compiled and linked with libcamera ${version#* } (soname ${version% *}): $needed of its symbols"
done
