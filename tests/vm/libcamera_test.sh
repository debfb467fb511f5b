#!/bin/bash
# In a guest of run-guest.sh: the package and its service on a camera of libcamera's.
#
#   libcamera_test.sh vimc      the kernel's, by vimc.ko in the working folder
#   libcamera_test.sh virtual   libcamera's own, since its 0.4, which show pictures
#
# The working folder holds lookout*.deb, service.sh, virtual.sh and platform_tests. The guest has libcamera as that
# package was built with, and the package libcamera-ipa. Exits with 0, or with 1 after saying what was wrong.
set -euo pipefail
. ./service.sh
. ./virtual.sh
camera=$1
work=$(mktemp -d)
shown=("$work"/out "$work"/err)

# The program: `start` leaves $work/out and $work/err.
start() {
  lookout run "$@" --format json --set log.stats-interval=1h > "$work/out" 2> "$work/err" &
  pid=$!
}
stop() {
  local status=0
  kill -TERM $pid
  wait $pid || status=$?
  [ $status = 0 ] || fail "SIGTERM ended it with $status"
}
results() { grep -c '"type":"classification"' "$work/out"; }
more_than() { [ "$(results)" -gt "$1" ]; }
sees() { grep -q "\"results\":\[{\"index\":[0-9]*,\"label\":\"$1\"" "$work/out"; }
said() { grep -qE -- "$1" "$work/err" || fail "not said: $1"; }
# refused STATUS ARGUMENTS...: with a sentence.
refused() {
  local expected=$1 status=0
  shift
  lookout run "$@" --log-level error > "$work/out" 2> "$work/err" || status=$?
  [ $status = "$expected" ] || fail "$* ended with $status"
  [ "$(wc -l < "$work/err")" = 1 ] || fail "not one sentence for $*"
}

plug() {
  insmod vimc.ko
  udevadm settle
}

install_packages
# Without a source: a V4L2 camera alone, none, and later both.
auto_took() { grep -q "auto: $1" "$work/err"; }
start
until_true 'auto: a V4L2 camera' auto_took '/dev/video0 (vivid)$'
until_true 'its frames' more_than 0
stop
modprobe -r vivid
refused 66
said 'no camera: .*camera_auto_detect=1'
case $camera in
vimc) # one camera, which shows color bars with text on them
  # shellcheck disable=SC2046
  modprobe -a $(modinfo -F depends vimc.ko | tr , ' ')
  plug
  name=Sensor shows='color bars' first='color bars' format='(RGB888|BGR888)'
  ;;
virtual)
  make_virtual_cameras
  name=hcolorbars shows='horizontal color bars' first=red format=NV12 # by falling name
  ;;
esac

modprobe vivid
start
until_true 'auto: a CSI camera' auto_took 'csi://0 (.*there is also .*(vivid)'
until_true 'its frames' more_than 0
stop
modprobe -r vivid

lookout list-cameras > "$work/out" 2> "$work/err"
grep -q "^csi://[01]: .*$name.*through libcamera" "$work/out" || fail 'list-cameras does not list it'
lookout doctor "csi://$name" > "$work/out" 2> "$work/err"
grep -q "^ok *source *csi://$name (.*$name" "$work/out" || fail 'doctor does not see it'
say 'listed'

start "csi://$name" --set camera.width=640 --set camera.height=480
until_true "csi://$name: $shows" sees "$shows"
said "source: csi://$name .*[0-9]+x[0-9]+ $format"
# Its threads, and libcamera's, take no signals.
for task in "/proc/$pid/task"/*; do
  [ "${task##*/}" = $pid ] || grep -q '^SigBlk:.*fffffffe7ff' "$task/status" || fail "$(cat "$task/status")"
done
stop
# In the clock of frames: not in the future, and not older than the buffers.
grep -o '"frame_age_ms":[^,]*' "$work/out" | cut -d : -f 2 |
  awk '!($1 >= 0 && $1 < 10000) { exit 1 }' || fail 'frame_age_ms'
if [ "$camera" = virtual ]; then
  start csi://red
  until_true 'csi://red: red' sees red
  stop
fi

refused 66 csi://no-such-camera
said "no-such-camera.*$name"
start csi://0 --set camera.width=333 --set camera.height=251
until_true 'an odd size' more_than 0
said 'asked for 333x251 at 30 fps, the camera gives'
stop

# In one process, which looks for modules where the program does.
install platform_tests /usr/bin/
LD_LIBRARY_PATH=/usr/lib/lookout LOOKOUT_TEST_CSI="csi://$name" platform_tests --gtest_filter='CsiOpenings.*' \
  > "$work/out" 2> "$work/err" || fail 'openings leave something'
grep -q '^\[  PASSED  \] 1 test' "$work/out" || fail 'the openings were skipped'
rm /usr/bin/platform_tests
say '50 openings left no thread and no descriptor'

sed -i 's#^source = .*#source = "csi://0"#; s/^# width = .*/width = 640/; s/^# height = .*/height = 480/' \
  /etc/lookout/lookout.toml
mark
systemctl start $unit
say 'the service is ready'
names "$first"
if [ "$camera" = vimc ]; then
  # Its driver goes away, is even removed, and comes back. libcamera 0.0.3 cannot stop a camera that is
  # gone: it ends the process, and systemd starts a new one.
  echo vimc.0 > /sys/bus/platform/drivers/vimc/unbind
  until_true 'the journal: lost' journal_has 'camera .* lost: '
  until_true 'its driver is removed' rmmod vimc
  mark
  until_true 'the journal: waiting' journal_has 'waiting for camera'
  plug
  names "$first"
  say "systemd started it again: $(property NRestarts) times"
fi
systemctl stop $unit
[ "$(property Result)" = success ] || fail "stopping ended in $(property Result)"

# A missing library is reported in one sentence, and nothing else needs it.
modules=/usr/lib/lookout/libcamera
module=$modules/$(ls /usr/lib/*/libcamera.so.* | sed -n 's/.*libcamera\.so\.\([0-9]*\.[0-9]*\|0\.0\.[0-9]*\)$/\1/p').so
libcamera=$(ldd "$module" | sed -n 's/.*libcamera\.so.* => \([^ ]*\) .*/\1/p')
mv "$libcamera" .
refused 72 csi://0
said 'CSI cameras cannot be used: libcamera.* is (not installed|installed, but .*libcamera[.]so)'
lookout run test://red --timeout 1s > "$work/out" 2> "$work/err" || fail "test:// without libcamera: $?"
mv "${libcamera##*/}" "$libcamera"
say 'without libcamera'
mv "$module" "$module.away"
refused 72 csi://0
said "CSI cameras cannot be used: libcamera [0-9.]* is installed, lookout has modules for "
lookout run test://red --timeout 1s > "$work/out" 2> "$work/err" || fail "test:// without its module: $?"
mv "$module.away" "$module"
say passed
