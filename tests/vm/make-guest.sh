#!/bin/bash
# Makes a small Debian guest with systemd and the kernel's camera `vivid`, for run-guest.sh.
#
#   make-guest.sh GUEST SUITE ARCH [PACKAGE...]
#
# GUEST    folder to fill: root.img, vmlinuz, initrd
# SUITE    bookworm or trixie
# ARCH     arm64 or amd64
# PACKAGE  further packages, also NAME/SUITE-backports; the guest has no network
#
# Done at once when GUEST was made with the same arguments. Needs root, and what install-deps.sh
# --target installs. Maintainer scripts of a foreign architecture run through binfmt_misc, which this sets up.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,/^set -euo/s/^# \{0,1\}//p' "$0"; exit 64; }
guest=$1 suite=$2 arch=$3
shift 3

fail() {
  echo "make-guest.sh: $*" >&2
  exit 1
}
[ "$(id -u)" = 0 ] || fail 'has to be run as root'
stamp="$suite $arch $* $(sha256sum < "$0")"
if [ "$(cat "$guest/stamp" 2> /dev/null)" = "$stamp" ]; then
  echo "$guest is up to date"
  exit
fi
mkdir -p "$guest"
rm -f "$guest/stamp"
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

case $arch in
arm64) machine=aarch64 ;;
amd64) machine=x86_64 ;;
*) fail "no architecture $arch, only arm64 and amd64" ;;
esac
"$(dirname "$0")/binfmt.sh" $machine

# The kernel's package is only unpacked: its scripts would make an initrd, slowly.
cat > "$work/kernel" <<'END'
#!/bin/sh
set -eu
export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
kernel=$(apt-cache depends "linux-image-$2" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
cd "$3"
apt-get download "$kernel"
dpkg-deb -x linux-image-*.deb kernel-package
END
chmod +x "$work/kernel"
sources=()
if [[ " $* " == *-backports* ]]; then
  "$(dirname "$0")/../../toolchains/mirrors.sh" "$suite" |
    sed "s/^\(.*\) $suite main$/&\n\1 $suite-backports main/" > "$work/sources.list"
  sources=("$work/sources.list")
fi
packages="busybox-static dbus kmod procps systemd systemd-sysv udev v4l-utils $*"
mmdebstrap --mode=root --variant=minbase --architectures="$arch" --include="$packages" \
  --aptopt='Acquire::Languages "none"' --aptopt='Acquire::Retries "3"' --dpkgopt=force-unsafe-io \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook="'$work/kernel' \"\$1\" $arch '$work'" \
  "$suite" "$work/root" "${sources[@]}" > "$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; fail "mmdebstrap $suite $arch"; }
root=$work/root
rm -f "$root/etc/dpkg/dpkg.cfg.d/99mmdebstrap"

# The kernel, and those of its modules that this machine has a use for.
cp "$work"/kernel-package/boot/vmlinuz-* "$guest/vmlinuz"
modules=$(find "$work/kernel-package" -path '*/lib/modules/*/kernel' -prune)
version=$(basename "$(dirname "$modules")")
mkdir -p "$root/usr/lib/modules/$version/kernel"
cp "$(dirname "$modules")"/modules.{builtin*,order} "$root/usr/lib/modules/$version"
for part in arch crypto drivers/{block,char,dma-buf,media,video,virtio} fs/{9p,ext4,fscache,jbd2,mbcache*,netfs} \
  drivers/net/{virtio_net,net_failover}* lib net/{9p,core}; do
  # shellcheck disable=SC2086  # a pattern
  [ ! -e "$modules"/$part ] || (cd "$modules" && cp -a --parents $part "$root/usr/lib/modules/$version/kernel")
done
depmod -b "$root" "$version"

# The camera, as a webcam; the command; no service that does nothing for it.
echo vivid > "$root/etc/modules-load.d/vivid.conf"
echo 'options vivid n_devs=1 node_types=0x1 input_types=0x00' > "$root/etc/modprobe.d/vivid.conf"
echo guest > "$root/etc/hostname"
echo 'LABEL=root / ext4 defaults,noatime 0 0' > "$root/etc/fstab"
echo 0123456789abcdef0123456789abcdef > "$root/etc/machine-id"
units=$root/etc/systemd/system
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer \
  e2scrub_all.timer e2scrub_reap.service systemd-journal-flush.service console-getty.service \
  getty@tty1.service serial-getty@ttyAMA0.service serial-getty@ttyS0.service; do
  ln -sf /dev/null "$units/$unit"
done
mkdir -p "$root/etc/systemd/"{journald,system}.conf.d "$root/mnt/host" "$units/graphical.target.wants"
printf '[Journal]\nStorage=volatile\nRateLimitBurst=0\n' > "$root/etc/systemd/journald.conf.d/guest.conf"
printf '[Manager]\nDefaultTimeoutStartSec=300s\nDefaultDeviceTimeoutSec=300s\n' > "$root/etc/systemd/system.conf.d/guest.conf"
cat > "$units/run-guest.service" <<'END'
[Unit]
Description=the command of run-guest.sh
After=multi-user.target

[Service]
Type=exec
ExecStart=/usr/local/sbin/run-guest
Environment=HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive
END
ln -sf ../run-guest.service "$units/graphical.target.wants/run-guest.service"
cat > "$root/usr/local/sbin/run-guest" <<'END'
#!/bin/sh
modprobe 9pnet_virtio
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 host /mnt/host && cd /mnt/host || poweroff -ff
sh .guest/command > .guest/output 2>&1 < /dev/null
echo $? > .guest/status
systemctl poweroff -ff
END
chmod +x "$root/usr/local/sbin/run-guest"

# Between the kernel and its root disk: busybox and a few modules.
mkdir -p "$work/initrd/"{bin,mod,proc,sys,dev,root}
cp "$root/bin/busybox" "$work/initrd/bin/busybox"  # /bin is /usr/bin, or linked to it
for module in virtio_pci virtio_mmio virtio_blk crc32c_generic ext4; do
  modprobe -d "$root" -S "$version" --show-depends $module 2> /dev/null || [ $module != ext4 ]
done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' | while read -r file; do
  case $file in
  *.xz) xz -dc "$file" ;;
  *) cat "$file" ;;
  esac > "$work/initrd/mod/$(basename "$file" .xz)"
  basename "$file" .xz >> "$work/initrd/mod/list"
done
cat > "$work/initrd/init" <<'END'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc none /proc; $b mount -t sysfs none /sys; $b mount -t devtmpfs none /dev
for m in $($b cat /mod/list); do $b insmod /mod/$m; done
until $b mount -t ext4 -o noatime /dev/vda /root; do $b sleep 0.1; done
$b umount /sys; $b umount /proc; $b mount -o move /dev /root/dev
exec $b switch_root /root /sbin/init
END
chmod +x "$work/initrd/init"
(cd "$work/initrd" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) > "$guest/initrd"

size=$(($(du -sm --apparent-size "$root" | cut -f1) * 11 / 10 + 1024))
rm -f "$guest/root.img"
truncate -s "${size}M" "$guest/root.img"
/sbin/mke2fs -q -F -t ext4 -L root -m 0 -O ^has_journal -E lazy_itable_init=1,root_owner=0:0 -d "$root" "$guest/root.img"
echo "$stamp" > "$guest/stamp"
echo "made $guest: $suite $arch, Linux $version, $(du -sh "$guest" | cut -f1), $SECONDS s"
