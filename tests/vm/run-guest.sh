#!/bin/bash
# Boots a guest of make-guest.sh in an emulator, runs one command in it and powers it off.
#
#   run-guest.sh GUEST FOLDER COMMAND [SECONDS]
#
# GUEST    is only read: every run starts from the same clean guest
# FOLDER   the guest's /mnt/host, to read and to write, and the command's working folder;
#          FOLDER/.guest/console is the log of the guest's console
# COMMAND  shell text, run by root when the boot is over; its output comes out here
# SECONDS  for everything, 900 without
#
# LOOKOUT_GUEST_DISK: a copy of the guest's root.img, which is used in its place and keeps what is written.
# LOOKOUT_GUEST_PORT: a port of this machine's loopback that leads to port 8090 of the guest, which has no network else.
#
# Exit status: the command's; 124 when the time was over, 125 when the guest died.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,/^set -euo/s/^# \{0,1\}//p' "$0"; exit 64; }
guest=$1 folder=$2 command=$3 seconds=${4:-900}
arch=$(cut -d ' ' -f 2 "$guest/stamp")
disk=$guest/root.img snapshot=on
if [ -n "${LOOKOUT_GUEST_DISK-}" ]; then
  disk=$LOOKOUT_GUEST_DISK snapshot=off
fi
rm -rf "$folder/.guest"
mkdir "$folder/.guest"
printf '%s\n' "$command" > "$folder/.guest/command"
touch "$folder/.guest/output"

case $arch in
arm64) machine='qemu-system-aarch64 -M virt,gic-version=3 -cpu cortex-a72' console=ttyAMA0 ;;
amd64) machine='qemu-system-x86_64 -M q35 -cpu max' console=ttyS0 ;;
esac
network=()
[ -z "${LOOKOUT_GUEST_PORT-}" ] || network=(
  -netdev "user,id=network,restrict=on,hostfwd=tcp:127.0.0.1:$LOOKOUT_GUEST_PORT-:8090"
  -device virtio-net-pci,netdev=network,romfile=
)
$machine -accel tcg,thread=multi,tb-size=512 -smp 2 -m 2048 \
  -nodefaults -no-user-config -display none -no-reboot \
  -kernel "$guest/vmlinuz" -initrd "$guest/initrd" \
  -append "console=$console root=/dev/vda rw panic=-1 mitigations=off" \
  -serial "file:$folder/.guest/console" -device virtio-rng-pci \
  -drive "if=none,id=root,file=$disk,format=raw,snapshot=$snapshot,cache=unsafe" \
  -device virtio-blk-pci,drive=root \
  -virtfs "local,path=$folder,mount_tag=host,security_model=none,multidevs=remap" "${network[@]}" \
  < /dev/null 2> "$folder/.guest/qemu" &
pid=$!
trap 'kill -KILL $pid 2> /dev/null || true' EXIT
tail -n +1 -f --pid=$pid "$folder/.guest/output" &
reader=$!
timeout "$seconds" tail --pid=$pid -f /dev/null || true
status=124
if ! kill -0 $pid 2> /dev/null; then
  status=$(cat "$folder/.guest/status" 2> /dev/null || echo 125)
fi
kill -KILL $pid 2> /dev/null || true
wait $reader || true
if [ "$status" -ge 124 ]; then
  echo "run-guest.sh: no end of the command came from the guest; the last of its console:" >&2
  tail -n 40 "$folder/.guest/qemu" "$folder/.guest/console" >&2
fi
exit "$status"
