#!/bin/sh
# Compiles lookout's module for CSI cameras where the package has none for the libcamera that is installed:
# libcamera's interface changes with its releases. postinst runs this at the installation, and whenever
# libcamera-dev or libcamera-ipa come, change or go. Says in a sentence when something is missing; what was
# built before stays.
set -u
modules=/usr/lib/lookout/libcamera
sources=/usr/share/lookout/libcamera
built=$modules/built.so

say() { echo "lookout: $*" >&2; }

# The end of the soname of each that is installed, the newest first: 0.7.
installed() {
  for library in /usr/lib/*/libcamera.so.*; do
    echo "${library##*/libcamera.so.}" | sed -n -E 's/^(0\.0\.[0-9]+|0\.[1-9][0-9]*|[1-9][0-9]*\.[0-9]+)$/\1/p'
  done | sort -Vru
}

# links VERSION FILE...: one of the files was linked with this libcamera.
links() {
  soname=libcamera.so.$1
  shift
  grep -qsF "$soname" "$@"
}

# Several libcameras can be installed, but one package of IPA modules: the program uses the libcamera of
# these, else the newest.
used() {
  for version in $(installed); do
    if links "$version" /usr/lib/*/libcamera/ipa_*.so /usr/lib/*/libcamera/ipa/ipa_*.so; then
      echo "$version"
      return
    fi
  done
  installed | head -n 1
}

version=$(used)
[ -n "$version" ] || exit 0  # no CSI camera can be used, which is nobody's fault
if [ -e "$modules/$version.so" ]; then
  rm -f $built
  exit 0
fi

folder=$(pkg-config --variable=libdir libcamera 2>/dev/null) || folder=
missing="libcamera $version is installed, for which this package has no module, and without one CSI cameras cannot be used"
if [ "$(readlink "$folder/libcamera.so")" != "libcamera.so.$version" ]; then
  links "$version" $built || say "$missing: sudo apt install libcamera-dev g++ pkg-config makes one"
  exit 0
fi
if ! command -v g++ >/dev/null; then
  say "$missing: sudo apt install g++, then sudo dpkg-reconfigure lookout makes one"
  exit 0
fi

rm -f $modules/*.new  # of a run that was killed
new=$(mktemp $modules/XXXXXX.new) log=$(mktemp)
trap 'rm -f "$new" "$log"' EXIT
for standard in c++17 c++20; do
  # shellcheck disable=SC2046  # several flags
  if g++ -std=$standard -O2 -fPIC -shared $(pkg-config --cflags libcamera) $sources/libcamera_module.cpp -o "$new" \
    $(pkg-config --libs libcamera) 2>"$log"; then
    chmod 644 "$new"
    mv "$new" $built
    echo "lookout: made a module for libcamera $version"
    exit 0
  fi
done
say "no module could be made for libcamera $version, without which CSI cameras cannot be used: $(grep -m 1 -i error "$log" || head -n 1 "$log")"
