#!/bin/bash
# Builds the kernel's camera `vimc`, which libcamera knows and Debian's kernels lack, for a guest.
#
#   make-vimc.sh GUEST
#
# GUEST    a folder of make-guest.sh, bookworm arm64; vimc.ko is put there
#
# Does nothing when it is there. Made from Debian's source of that kernel: 150 MB are fetched and
# only unpacked. Needs what install-deps.sh --target installs.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,/^set -euo/s/^# \{0,1\}//p' "$0"; exit 64; }
guest=$(realpath "$1")

fail() {
  echo "make-vimc.sh: $*" >&2
  exit 1
}
read -r suite arch _ < "$guest/stamp"
[ "$suite $arch" = 'bookworm arm64' ] || fail "not for a guest of $suite $arch"
kernel=$(/sbin/debugfs -R 'ls -p /usr/lib/modules' "$guest/root.img" 2> /dev/null | cut -d / -f 6 | grep '^[0-9]')
stamp="$kernel $(sha256sum < "$0")"
if [ -e "$guest/vimc.ko" ] && [ "$(cat "$guest/vimc.stamp" 2> /dev/null)" = "$stamp" ]; then
  echo "$guest/vimc.ko is up to date"
  exit
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Packages from where the guest's are, for its architecture, and for this machine's what runs here.
build=$(dpkg --print-architecture)
mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/debs"
/sbin/debugfs -R 'cat /etc/apt/sources.list' "$guest/root.img" 2> /dev/null > "$work/apt/sources.list"
[ -s "$work/apt/sources.list" ] || fail "$guest does not tell where its packages are from"
cat > "$work/apt/apt.conf" << END
Dir::State "$work/apt"; Dir::State::status "/dev/null"; Dir::Cache "$work/apt";
Dir::Etc::SourceList "$work/apt/sources.list"; Dir::Etc::SourceParts "/dev/null";
APT::Architecture "$build"; APT::Architectures { "$build"; "$arch"; }; APT::Sandbox::User "root";
Acquire::Languages "none"; Acquire::Retries "3";
END
export APT_CONFIG=$work/apt/apt.conf
apt-get -qq update
version=$(apt-cache show "linux-headers-$kernel:$arch" 2> /dev/null | sed -n '0,/^Version: /s/^Version: //p')
[ -n "$version" ] || fail "Debian has no headers of $kernel any more: delete $guest, and make it again"
release=$(cut -d . -f 1-2 <<< "$kernel")
(
  cd "$work/debs"
  apt-get -qq download "linux-headers-$kernel:$arch=$version" \
    "linux-headers-${kernel%-"$arch"}-common=$version" "linux-kbuild-$release:$build=$version" \
    "linux-source-$release=$version"
)

for deb in "$work"/debs/linux-{headers,kbuild}*.deb; do dpkg-deb -x "$deb" "$work/root"; done
source=drivers/media/test-drivers/vimc
dpkg-deb --fsys-tarfile "$work"/debs/linux-source-*.deb |
  tar -xO "./usr/src/linux-source-$release.tar.xz" |
  tar -xJ -C "$work" --strip-components=1 "linux-source-$release/$source"
headers=$work/root/usr/src/linux-headers-$kernel
sed -i "s#/usr/src/#$work/root/usr/src/#" "$headers/Makefile"
make -s -C "$headers" M="$work/$source" CONFIG_VIDEO_VIMC=m DEB_BUILD_ARCH="$build" DEB_HOST_ARCH="$arch" \
  DEB_HOST_GNU_TYPE=aarch64-linux-gnu modules > "$work/log" 2>&1 ||
  { tail -n 30 "$work/log" >&2; fail 'make'; }
aarch64-linux-gnu-strip --strip-debug -o "$guest/vimc.ko" "$work/$source/vimc.ko"
echo "$stamp" > "$guest/vimc.stamp"
echo "made $guest/vimc.ko: Linux $kernel, $SECONDS s"
