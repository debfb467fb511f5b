#!/bin/sh
# Compiles lookout's module for CSI cameras where the package has none for the libcamera that is installed:
# libcamera's interface changes with its releases. postinst runs this at the installation, and after every
# upgrade of libcamera-dev. Says in a sentence when something is missing; what was built before stays.
# Exits with 0 when there is a new module, else with 1.
set -u
modules=/usr/lib/lookout/libcamera
sources=/usr/share/lookout/libcamera

say() { echo "lookout: $*" >&2; }

# The end of the soname of each that is installed, the newest first: 0.7.
installed() {
  for library in /usr/lib/*/libcamera.so.*; do
    echo "${library##*/libcamera.so.}" | sed -n -E 's/^(0\.0\.[0-9]+|0\.[1-9][0-9]*|[1-9][0-9]*\.[0-9]+)$/\1/p'
  done | sort -Vru
}

version=$(installed | head -n 1)
[ -n "$version" ] || exit 1  # no CSI camera can be used, which is nobody's fault
if [ -e "$modules/$version.so" ]; then
  rm -f $modules/built.so
  exit 1
fi

folder=$(pkg-config --variable=libdir libcamera 2>/dev/null) || folder=
if [ "$(readlink "$folder/libcamera.so")" != "libcamera.so.$version" ]; then
  say "libcamera $version is installed, for which this package has no module: sudo apt install libcamera-dev g++ pkg-config makes one, without which CSI cameras cannot be used"
  exit 1
fi
if ! command -v g++ >/dev/null; then
  say "libcamera $version is installed, for which this package has no module: sudo apt install g++, then sudo dpkg-reconfigure lookout makes one, without which CSI cameras cannot be used"
  exit 1
fi

new=$(mktemp $modules/XXXXXX.new) log=$(mktemp)
trap 'rm -f "$new" "$log"' EXIT
for standard in c++17 c++20; do
  # shellcheck disable=SC2046  # several flags
  if g++ -std=$standard -O2 -fPIC -shared $(pkg-config --cflags libcamera) $sources/libcamera_module.cpp -o "$new" \
    $(pkg-config --libs libcamera) 2>"$log"; then
    chmod 644 "$new"
    mv "$new" $modules/built.so
    echo "lookout: made a module for libcamera $version"
    exit 0
  fi
done
say "no module could be made for libcamera $version, without which CSI cameras cannot be used: $(grep -m 1 -i error "$log" || head -n 1 "$log")"
exit 1
