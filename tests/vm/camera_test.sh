#!/bin/sh
# The real program on a kernel camera that is pulled out, plugged in elsewhere, stalls and damages
# frames, many times in a row: it comes back each time, nothing leaks, and the counts add up.
#
#   camera_test.sh PROGRAM [TIMES]    50 times take about fifteen minutes, 0 try the rest alone
#
# Run by "run-guest.sh GUEST FOLDER 'sh camera_test.sh ./lookout'", where FOLDER holds both and GUEST has
# what the program needs. Runs as root, with the kernel's `vivid` (it loads and unloads that module)
# and v4l-utils. With systemd, a service whose camera is not there yet is tried as well. Exits with
# 0, or with 1 after saying what was wrong.
set -u
program=$(realpath "$1")
times=${2:-50}
work=$(mktemp -d)
pid=
failures=0

say() { echo "camera_test: $*"; }
fail() {
  say "FAILED: $*"
  failures=$((failures + 1))
}
give_up() {
  fail "$@"
  tail -n 20 "$work"/*.log
  exit 1
}
stop_program() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
  [ ! -d /run/systemd/system ] || systemctl stop lookout-test.service 2>/dev/null
}
trap 'stop_program; rm -rf "$work"' EXIT

# within SECONDS COMMAND...: tries until it succeeds. The times are those of a busy emulator.
within() {
  local tries=$(($1 * 5))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || return 1
    sleep 0.2
  done
}
lines() { # lines TEXT FILE: how many lines of the file have the text
  grep -c -- "$1" "$2"
}
has_lines() { [ "$(lines "$1" "$2")" -ge "$3" ]; }

# ---- the camera

number=0
plug() { # plug NUMBER
  number=$1
  modprobe vivid n_devs=1 node_types=0x1 input_types=0x00 vid_cap_nr="$number" &&
    within 60 test -c "/dev/video$number" && udevadm settle
}
unbound() { ! [ -e /sys/bus/platform/drivers/vivid/vivid.0 ]; }
unplug() {
  if ! unbound; then echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind; fi
  # The module is free when the program has let go of the lost camera.
  within 60 modprobe -r vivid 2>/dev/null
}
control() { v4l2-ctl -d "/dev/video$number" --set-ctrl "$1" || fail "no control $1"; }

# Each breaks the camera and makes it whole again, and returns false when that could not be done.
break_disconnect() { control disconnect=1; }
break_unbind() {
  echo vivid.0 >/sys/bus/platform/drivers/vivid/unbind || return 1
  sleep 1
  echo vivid.0 >/sys/bus/platform/drivers/vivid/bind
}
break_unload() { unplug && plug "$number"; }
break_renumber() { unplug && plug $((7 - number)); } # 0, 7, 0, ...
break_stream() { # and it cannot be started at once
  control inject_vidioc_streamon_error=1
  control inject_fatal_streaming_error=1
}
break_stall() {
  control percentage_of_dropped_buffers=100
  within 60 has_lines 'lost: no frame' "$work/run.log" $((stalls + 1)) || return 1
  stalls=$((stalls + 1))
  control percentage_of_dropped_buffers=0
}

# ---- the program

figure() { # figure NAME: of /proc/PID/status, a number
  sed -n "s/^$1:[[:space:]]*\([0-9]*\).*/\1/p" "/proc/$pid/status"
}
descriptors() { find "/proc/$pid/fd" -mindepth 1 | wc -l; }
results() { stat -c %s "$work/run.json"; } # bytes: they grow with every frame
grew() { [ "$(results)" -gt "$1" ]; }
frames_come() {
  local before
  before=$(results)
  within 120 grew "$before"
}
ended() { ! kill -0 "$pid" 2>/dev/null; }

modprobe -r vivid 2>/dev/null
plug 0 || give_up 'no vivid'
stalls=0
"$program" /dev/video0 --format json --top-k 1 --threads 1 --set log.stats-interval=1h \
  --log-level info --set camera.wait=no >"$work/run.json" 2>"$work/run.log" &
pid=$!
frames_come || give_up 'no frames'

round=0
settled_fds=0 settled_threads=0 settled_kb=0
while [ $round -lt "$times" ]; do
  round=$((round + 1))
  # Faults that a camera survives: damaged frames, lost ones, and a counter of frames that jumps.
  control inject_v4l2_buf_flag_error=1
  control percentage_of_dropped_buffers=30
  frames_come || give_up "round $round: no frames although only some are dropped"
  control percentage_of_dropped_buffers=0
  set -- disconnect unbind unload renumber stream stall
  shift $(((round - 1) % 6))
  "break_$1" || give_up "round $round: the camera did not $1"
  within 120 has_lines ' is back after ' "$work/run.log" $round ||
    give_up "round $round ($1): the camera is there but was not taken up again"
  frames_come || give_up "round $round ($1): no frames"
  say "round $round, $1: $(descriptors) descriptors, $(figure Threads) threads, $(figure VmRSS) kB"
  if [ $round = 6 ]; then # everything has happened once
    settled_fds=$(descriptors) settled_threads=$(figure Threads) settled_kb=$(figure VmRSS)
  fi
done

if [ "$times" -gt 6 ]; then
  [ "$(descriptors)" = "$settled_fds" ] || fail "$(descriptors) descriptors, $settled_fds before"
  [ "$(figure Threads)" = "$settled_threads" ] ||
    fail "$(figure Threads) threads, $settled_threads before"
  grown=$(($(figure VmRSS) - settled_kb))
  say "resident memory grew by $grown kB in $((times - 6)) rounds"
  [ $grown -lt 4096 ] || fail "$grown kB more memory than after the sixth round"
fi

kill -TERM $pid
within 60 ended || fail "did not stop within a minute"
wait $pid
status=$?
pid=
[ $status = 0 ] || fail "exit status $status"

# ---- what it said: once for each loss and each return

for state in offline online; do
  said=$(lines "\"state\":\"$state\"" "$work/run.json")
  [ "$said" = "$times" ] || fail "$said times $state in JSON, $times losses"
done
for text in ' lost: ' ' is back after '; do
  said=$(lines "$text" "$work/run.log")
  [ "$said" = "$times" ] || fail "$said log lines with '$text', $times losses"
done
said=$(grep -vc 'a damaged frame was skipped' "$work/run.log")
[ "$said" -le $((2 * times + 10)) ] || fail "$said log lines"
damaged=$(lines 'a damaged frame was skipped' "$work/run.log") # the first after each loss
[ "$damaged" -le "$times" ] || fail "$damaged times a damaged frame, $times losses"

summary=$(grep '"type":"summary"' "$work/run.json")
number_in() { echo "$summary" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
captured=$(number_in captured) classified=$(number_in classified)
dropped=$(number_in dropped) in_flight=$(number_in in_flight)
skipped=$(number_in skipped)
say "captured $captured, classified $classified, dropped $dropped, in flight $in_flight, skipped $skipped"
[ "$skipped" -ge "$damaged" ] || fail "$skipped frames skipped, $damaged said to be damaged"
[ "$times" = 0 ] || [ "$skipped" -gt 0 ] || fail 'no damaged frame was skipped'
[ "$captured" = $((classified + dropped + in_flight)) ] || fail 'the counts do not add up'
written=$(lines '"type":"classification"' "$work/run.json")
[ "$written" = "$classified" ] || fail "$written results for $classified frames"
sed -n 's/.*"type":"classification".*"seq":\([0-9]*\).*/\1/p' "$work/run.json" |
  sort -n -u -c 2>/dev/null || fail 'the frames are not numbered upwards'

# ---- a camera that gives less than it was asked for: both figures, once

"$program" "/dev/video$number" --set camera.width=1280 --set camera.height=720 --set camera.framerate=30 --top-k 1 \
  --set log.stats-interval=1h >"$work/run.json" 2>"$work/slow.log" &
pid=$!
frames_come || give_up 'no frames of 1280x720'
control disconnect=1
within 60 has_lines ' is back after ' "$work/slow.log" 1 || fail 'not back at 1280x720'
kill -TERM $pid
wait $pid
pid=
said=$(lines 'asked for 1280x720 at 30 fps, the camera gives 1280x720 at ' "$work/slow.log")
[ "$said" = 1 ] || fail "a rate that was not granted was said $said times"

"$program" list-cameras | grep -q "run takes 640x360 BGR3 at 30 fps" ||
  fail "list-cameras: $("$program" list-cameras | tail -n 3)"

# ---- a service whose camera comes later

if [ -d /run/systemd/system ]; then
  unplug || give_up 'the camera cannot be unplugged'
  property() { systemctl show --value -p "$1" lookout-test.service; }
  is() { [ "$(property "$1")" = "$2" ]; }
  waits() { is StatusText 'waiting for the camera'; }
  sees() { property StatusText | grep -q ' fps: \|^[a-z]'; }
  said() { journalctl -q -o cat _SYSTEMD_UNIT=lookout-test.service | wc -l; }
  # It would be killed after a minute without a sign of life. To load LibTorch takes a busy emulator
  # longer than that, and an inference up to 20 s.
  systemd-run -q --no-block --unit=lookout-test -p Type=notify -p NotifyAccess=main \
    -p TimeoutStartSec=300 -p WatchdogSec=60 -p Restart=on-failure -p RestartSec=1 \
    "$program" /dev/video0 --set results.write=changes --threads 1 || give_up 'systemd-run'
  within 300 waits || fail "status '$(property StatusText)' without a camera"
  is ActiveState active || fail "$(property ActiveState) without a camera"
  before=$(said)
  sleep 75
  # Statistics are a line a minute.
  [ "$(said)" -le $((before + 2)) ] || fail "$(said) lines in the journal, $before a minute ago"
  waits || fail "status '$(property StatusText)' after a minute"
  plug 0 || give_up 'the camera cannot be plugged in'
  no_longer_waits() { ! waits && sees; }
  within 120 no_longer_waits || fail "status '$(property StatusText)' with a camera"
  is NRestarts 0 || fail "$(property NRestarts) restarts"
  is ActiveState active || fail "$(property ActiveState) with a camera"
  systemctl stop lookout-test.service
  [ $failures = 0 ] || journalctl -q -o cat _SYSTEMD_UNIT=lookout-test.service | tail -n 30
fi

[ $failures = 0 ] || {
  tail -n 15 "$work"/*.log
  exit 1
}
say 'passed'
