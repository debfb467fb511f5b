#!/bin/bash
# In a guest of run-guest.sh: the program on a camera of libcamera's, the kernel's `vimc`.
#
#   libcamera_test.sh PROGRAM VIMC
#
# PROGRAM  lookout, with liblookout-libcamera.so in ../lib/lookout and a model in ../share/lookout
# VIMC     vimc.ko of the guest's kernel, which Debian's lacks
#
# Needs libcamera as the program was built with, and the package libcamera-ipa. Exits with 0, with 1
# after saying what was wrong, with 77 where there is no vimc.
set -euo pipefail
program=$(realpath "$1")
vimc=${2:-vimc.ko}
[ -e "$vimc" ] || { echo "libcamera_test.sh: no $vimc"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "libcamera_test.sh: line ${BASH_LINENO[0]}: $*" >&2
  tail -n 20 "$work"/* >&2
  exit 1
}

# run ARGUMENTS...: leaves $work/out and $work/err, returns the program's status.
run() { "$program" "$@" --format json > "$work/out" 2> "$work/err"; }
results() { grep -c '"type":"classification"' "$work/out" || true; }
said() { grep -qE -- "$1" "$work/err" || fail "not said: $1"; }

modprobe -r vivid || true
# shellcheck disable=SC2046
modprobe -a $(modinfo -F depends "$vimc" | tr , ' ')
lsmod | grep -q '^vimc ' || insmod "$vimc"
udevadm settle

# An emulated machine classifies a frame in two seconds. The camera shows color bars, which the
# self-test model knows.
run csi://0 --timeout 15s || fail "csi://0 ended with $?"
[ "$(results)" -gt 1 ] || fail "$(results) results"
grep -q '"results":\[{"index":0,"label":"color bars"' "$work/out" || fail 'color bars are not seen'
said 'source: csi://0 .*[0-9]+x[0-9]+ (RGB888|BGR888)'
# Stamped by the sensor, in the clock of frames: not in the future, and not older than the buffers.
python=$(command -v python3 || true)
[ -z "$python" ] || "$python" - "$work/out" <<'END' || fail 'frame_age_ms'
import json, sys
ages = [json.loads(l)["frame_age_ms"] for l in open(sys.argv[1]) if '"classification"' in l]
sys.exit(not all(0 <= age < 10000 for age in ages))
END
echo "csi://0: $(results) results in 15 s"

run csi://Sensor --timeout 2s || fail "a part of the model's name ended with $?"
status=0
run csi://no-such-camera --timeout 2s || status=$?
[ $status = 66 ] || fail "a name that no camera has ended with $status"
said 'no-such-camera.*Sensor'

# Sizes that it does not have are said.
run csi://0 --width 333 --height 251 --timeout 2s || fail "an odd size ended with $?"
said 'asked for 333x251, the camera gives'

# In the service's sandbox: no network, and no netlink.
systemd-run --quiet --wait --pipe -p DynamicUser=yes -p SupplementaryGroups='video render' \
  -p PrivateNetwork=yes -p RestrictAddressFamilies=AF_UNIX -p DevicePolicy=closed \
  -p DeviceAllow='char-video4linux rw' -p DeviceAllow='char-media rw' -p ProtectSystem=strict \
  -p SystemCallFilter=@system-service -p 'SystemCallFilter=~@privileged @resources' \
  -p SystemCallErrorNumber=EPERM ${LD_LIBRARY_PATH:+-p Environment=LD_LIBRARY_PATH="$LD_LIBRARY_PATH"} \
  "$program" csi://0 --timeout 15s --format json > "$work/out" 2> "$work/err" || fail "sandboxed: $?"
[ "$(results)" -gt 1 ] || fail "sandboxed: $(results) results"

# Threads of libcamera's, which have names since its 0.4, take no signals, and SIGTERM ends it.
"$program" csi://0 --format json > "$work/out" 2> "$work/err" &
pid=$!
for _ in $(seq 600); do
  [ "$(results)" -lt 1 ] || break
  sleep 0.1
done
open=$(grep -l CameraManager /proc/$pid/task/*/comm | head -n 1 || true)
if [ -n "$open" ]; then
  grep -q '^SigBlk:.*fffffffe7ff' "${open%/comm}/status" || fail "$(cat "${open%/comm}/status")"
fi
kill -TERM $pid
wait $pid || fail "SIGTERM: $?"

# Module and library that are missing are said in a sentence; other sources need neither.
modules=$(dirname "$(dirname "$program")")/lib/lookout
if [ -w "$modules" ]; then
  mkdir -p "$work/root/app" "$work/root/share"
  cp "$program" "$work/root/app/lookout"
  cp -r "$(dirname "$(dirname "$program")")/share/lookout" "$work/root/share/"
  status=0
  "$work/root/app/lookout" csi://0 > "$work/out" 2> "$work/err" || status=$?
  [ $status = 66 ] || fail "without the module: $status"
  said 'CSI cameras cannot be used'
  "$work/root/app/lookout" test://red --timeout 1s > "$work/out" 2> "$work/err" || fail "test://: $?"
fi
echo 'libcamera: passed'
