#!/bin/bash
# In a guest of run-guest.sh with Debian's libcamera-dev, libcamera-ipa, g++ and pkg-config: libcamera is
# upgraded and downgraded under the running service, with the package's modules and with one that is
# compiled in the guest.
#
#   libcamera_upgrade_test.sh OLD NEW    as 0.4 0.7, the ends of libcamera's soname
#
# The working folder holds lookout*.deb, service.sh, virtual.sh, and Debian's packages of both versions in
# the folders OLD and NEW. Exits with 0, or with 1 after saying what was wrong.
set -euo pipefail
. ./service.sh
. ./virtual.sh
old=$1 new=$2
built=/usr/lib/lookout/libcamera/built.so
work=$(mktemp -d)
shown=("$work"/dpkg)

# installs PACKAGE...: without a fault; what was printed is in $work/dpkg.
installs() {
  local before=$SECONDS
  DEBIAN_FRONTEND=noninteractive dpkg -i "$@" > "$work/dpkg" 2>&1 || fail "dpkg -i $*"
  say "installed $(basename -a "$@" | cut -d _ -f 1,2 | tr '\n' ' ')in $((SECONDS - before)) s"
}
printed() { grep -qE -- "$1" "$work/dpkg" || fail "not printed: $1"; }
not_printed() { ! grep -E -- "$1" "$work/dpkg" || fail "printed: $1"; }

# goes_on VERSION: the service, which nobody touched, names the pictures with this libcamera.
has_loaded() { grep -qF "/libcamera.so.$1" "/proc/$(property MainPID)/maps"; }
goes_on() {
  until_true "libcamera $1 is loaded" has_loaded "$1"
  names red
}

# ---- a package without a module for either

echo "path-exclude=/usr/lib/lookout/libcamera/0.*.so" > /etc/dpkg/dpkg.cfg.d/without-modules
mark
installs lookout_*.deb lookout-torch_*.deb
printed "^lookout: made a module for libcamera $old$"
make_virtual_cameras
sed -i 's#^source = .*#source = "csi://0"#' /etc/lookout/lookout.toml
systemctl -q enable --now $unit
goes_on "$old"

mark
installs "$new"/*.deb
printed "^lookout: made a module for libcamera $new$"
goes_on "$new"

# A compiler that fails.
mark
sum=$(sha256sum $built)
printf '#!/bin/sh\necho "module.cpp:1: error: out of luck" >&2\nexit 1\n' > /usr/local/bin/g++
chmod +x /usr/local/bin/g++
installs "$old"/*.deb
printed "^lookout: no module could be made for libcamera $old, .*: module.cpp:1: error: out of luck$"
[ "$(grep -c '^lookout:' "$work/dpkg")" = 1 ] || fail 'more than one sentence'
[ "$(sha256sum $built)" = "$sum" ] || fail 'the old module is gone'
[ "$(ls /usr/lib/lookout/libcamera)" = "$(printf 'build\nbuilt.so')" ] || fail "left: $(ls /usr/lib/lookout/libcamera)"
goes_on "$new"
rm /usr/local/bin/g++

# The libcamera of that module goes, the headers of the other, too, and these come back.
mark
dpkg -r libcamera-dev > "$work/dpkg" 2>&1 || fail 'dpkg -r libcamera-dev'
printed "^lookout: libcamera $old is installed, .*: sudo apt install libcamera-dev g\+\+ pkg-config makes one$"
dpkg -r "libcamera$new" > "$work/dpkg" 2>&1 || fail "dpkg -r libcamera$new"
systemctl stop $unit
! systemctl start $unit 2> /dev/null || fail 'it starts without a module'
[ "$(property ExecMainStatus)" = 72 ] || fail "without a module it ends with $(property ExecMainStatus)"
mark
installs "$old"/libcamera-dev_*.deb
printed "^lookout: made a module for libcamera $old$"
goes_on "$old"

# ---- the package as it is

rm /etc/dpkg/dpkg.cfg.d/without-modules
mark
installs lookout_*.deb
[ ! -e $built ] || fail 'the package has a module, and the other stays'
goes_on "$old"
mark
mv "$new"/libcamera-dev_*.deb "$work"  # which a Pi need not have
installs "$new"/*.deb
not_printed '^lookout:'
goes_on "$new"
mark
installs "$old"/*.deb
not_printed '^lookout:'
goes_on "$old"
[ "$(property NRestarts)" = 0 ] || fail "systemd restarted it $(property NRestarts) times"

rm -r /etc/systemd/system/$unit.d
dpkg --purge lookout lookout-torch > "$work/dpkg" 2>&1 || fail 'dpkg --purge'
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /mnt \) -prune -o -name '*lookout*' -print)
[ -z "$left" ] || fail "purge leaves $left"
say passed
