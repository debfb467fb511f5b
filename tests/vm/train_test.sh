#!/bin/bash
# In a guest of run-guest.sh: an owner teaches the board two states of a camera, and the service tells them.
#
#   train_test.sh BASE    the archive to train on
#
# The working folder holds BASE, lookout*.deb and service.sh.
set -euo pipefail
. ./service.sh
base=$1
model=/usr/local/share/garage.pt

install_packages
plug_in
slow_camera

# The pattern moves, so that there is more than one picture of it.
v4l2-ctl -d $camera --set-ctrl horizontal_movement=5
collect() {
  local label=$1 pattern=$2
  show "$pattern"
  lookout collect $camera garage --label "$label" --every 1s -t 20s --width 320 --height 180 --framerate 5 \
    2> collect.log || { cat collect.log; fail 'lookout collect'; }
  say "$label: $(find "garage/$label" -name '*.jpg' | wc -l) pictures"
}
collect open '75% Colorbar'
collect closed '16x16 Checkers'
lookout train garage -o $model --model "$base" --format json > report.json & trainer=$!
peak=
while high=$(sed -n 's/^VmHWM:\s*\([0-9]*\) kB/\1/p' /proc/$trainer/status 2> /dev/null) && [ -n "$high" ]; do
  peak=$high
  sleep 0.5
done
wait $trainer || fail 'lookout train'
say "trained; at most $peak kB"
lookout inspect $model | head -n 20

sed -i "s#^file = .*#file = \"$model\"#" /etc/lookout/lookout.toml
chmod 644 $model
mark
systemctl start $unit
names closed
show '75% Colorbar'
names open
# Neither.
show 'Gray Ramp'
names unknown
