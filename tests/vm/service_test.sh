#!/bin/bash
# In a guest of run-guest.sh: the package and its service, as an owner of a board meets them.
#
#   service_test.sh           everything
#   service_test.sh --short   installed, ready, one right prediction
#
# The working folder holds lookout*.deb, service.sh, and in hostile/ pictures of hostile_pictures.py.
set -euo pipefail
. ./service.sh

restarted() { [ "$(property NRestarts)" -gt "$1" ] && is ActiveState active && is SubState running; }

# answers PATH PATTERN: the HTTP server does, and the first 20 KB have it.
answers() {
  rm -f answer
  exec 3<> /dev/tcp/127.0.0.1/8090
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
  timeout 300 head -c 20000 <&3 > answer
  exec 3>&-
  LC_ALL=C grep -aqP -- "$2" answer
}

# predict FILE: the status of the answer to this picture.
predict() {
  exec 3<> /dev/tcp/127.0.0.1/8090
  printf 'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\n' >&3
  printf 'Content-Length: %d\r\nConnection: close\r\n\r\n' "$(stat -c %s "$1")" >&3
  cat "$1" >&3
  timeout 300 head -n 1 <&3 | cut -d ' ' -f 2
  exec 3>&-
}

# of_processes FIELD: of /proc/PID/status, a line for each process of the service.
of_processes() {
  local pid
  while read -r pid; do
    sed -n "s/^$1:[[:space:]]*\([0-9]*\).*/\1/p" "/proc/$pid/status"
  done < "/sys/fs/cgroup/system.slice/$unit/cgroup.procs"
}
# nice_of NAME: the nice value of the service's threads of this name.
nice_of() { ps -L -o comm=,ni= -p "$(property MainPID)" | awk -v name="$1" '$1 == name { print $2 }'; }
max_memory() { of_processes VmHWM | awk '{ sum += $1 } END { print sum }'; }

mark
install_packages
say 'installed'
! systemctl -q is-active $unit || fail 'the service runs without being asked'
# The camera is plugged in later, and brings the first driver of any camera. modprobe leaves some of what
# vivid alone had loaded.
modprobe -r vivid
while left=$(lsmod | awk '/^(video|v4l2|mc )/ && $3 == 0 { print $1 }') && [ -n "$left" ]; do
  # shellcheck disable=SC2086  # a list
  rmmod $left
done
! grep video4linux /proc/devices || fail 'the kernel knows cameras already'
systemctl enable --now $unit
is ActiveState active || fail 'systemctl start came back before READY'
say 'ready'
until_true 'waiting for the camera' journal_has 'waiting for camera'
plug_in
show '100% Red'
names red
[ "${1-}" != --short ] || exit 0

# Allowed setpriority alone counts as all calls of @resources: 0.1.
systemd-analyze security --no-pager --threshold=5 $unit | tail -n 1 || fail 'more exposed than 0.5'
say 'hardened'

process=$(property MainPID)
sed -i 's/^min-duration = .*/min-duration = "600ms"/' /etc/lookout/lookout.toml
systemctl reload $unit
until_true 'a changed configuration is taken' journal_has 'reload: state.min-duration changed'
is MainPID "$process" || fail 'a reload was a restart'

slow_camera
# With its socket it is seen by others, though it has no network itself.
exposed=$(exposure)
systemctl enable lookout.socket
systemctl restart $unit
mark
show '100% Colorbar'
names 'color bars'
[ "$(readlink "/proc/$(property MainPID)/ns/net")" != "$(readlink /proc/self/ns/net)" ] || fail 'the service has a network'
[ "$(exposure)" = "$exposed" ] || fail "with the socket it is exposed by $(exposure), not $exposed"
[ "${exposed/./}" -le 8 ] || fail "it is exposed by $exposed, more than 0.8"
answers / '<!DOCTYPE html>' || fail 'there is no page'
answers /state '"label":"color bars"' || fail 'there is no state'
answers /stream '^\xff\xd8\xff' || fail 'there is no stream'
answers /metrics '^lookout_camera_up.* 1' || fail 'there are no metrics'
say "seen over HTTP, exposed by $exposed"

# Hostile pictures are decoded in a process with a filter of its own, and harm nobody.
[ "$(predict hostile/good.jpg)" = 200 ] || fail 'a good picture is refused'
[ "$(of_processes Seccomp_filters | sort -u | wc -l)" = 2 ] || fail 'no process has more filters than the service'
[ "$(nice_of predict)" = 10 ] || fail "the thread predict has the nice value '$(nice_of predict)', not 10"
predict hostile/deep.png > status  # as large as is allowed
memory=$(max_memory)
for picture in hostile/*; do
  status=$(predict "$picture")
  [[ $status =~ ^(200|413|415|422|503)$ ]] || fail "the answer to $picture is: $status"
  [ "$(predict hostile/good.jpg)" = 200 ] || fail "after $picture a good one is refused"
  say "$picture: $status"
done
growth=$(($(max_memory) - memory))
[ $growth -le 40960 ] || fail "hostile pictures take $growth kB"
is NRestarts 0 || fail 'the service was restarted'
mark
show '100% Red'
names red
show '100% Colorbar'
say "hostile pictures take $growth kB"

# Snapshots are for the members of a group.
sed -i 's#^snapshot-on-change = .*#snapshot-on-change = "/var/lib/lookout"#' /etc/lookout/lookout.toml
useradd -G lookout owner
# It stops amid a large picture. A client may come while it is stopped, and starts it.
(while :; do predict hostile/deep.png; done) > status 2>&1 &
clients=$!
until_true 'one picture after the other is decoded' test -s status
systemctl stop $unit
is Result success || fail "stopping amid a picture ended in $(property Result)"
kill $clients || true
wait $clients || true
mark
answers / '<!DOCTYPE html>' || fail 'a client does not start it'
until_true 'a client started it' is ActiveState active
systemctl disable --now lookout.socket
pictured() { compgen -G '/var/lib/lookout/*.jpg'; }
until_true 'a snapshot is written' pictured
picture=$(pictured | head -n 1)
setpriv --reuid=owner --regid=owner --init-groups cat "$picture" > /tmp/picture.jpg ||
  fail "a member of the group lookout cannot read $picture"
! setpriv --reuid=nobody --regid=nogroup --clear-groups cat "$picture" > /tmp/picture.jpg 2>&1 ||
  fail "everybody can read $picture"
say 'a member of the group reads it, others do not'

mark
systemctl stop $unit
is Result success || fail "stopping ended in $(property Result)"
journal_has 'classified' || fail 'no summary at the end'
say 'stopped'
systemctl start $unit
names 'color bars'
! (exec 3<> /dev/tcp/127.0.0.1/8090) 2> /dev/null || fail 'something listens without the socket'

# The camera is pulled out, its driver even removed, and put in again.
mark
echo vivid.0 > /sys/bus/platform/drivers/vivid/unbind
until_true 'offline' journal_has 'offline|lost'
until_true 'its driver is removed' modprobe -r vivid
sleep 10  # of attempts
plug_in
show '100% Green'
names green
is NRestarts 0 || fail 'the service was restarted'
lines=$(chapter | wc -l)
[ "$lines" -le 10 ] || fail "$lines lines in the journal for one loss"

mark
kill -STOP "$(property MainPID)"
until_true 'frozen: the watchdog restarted it' restarted 0
names green
chapter | grep -i watchdog || journalctl --no-pager -n 20 -o cat | grep -i watchdog || fail 'not by the watchdog'

mark
kill -KILL "$(property MainPID)"
until_true 'killed: restarted' restarted 1
names green

# refuses MODEL STATUS: with this model the service ends so, and for good.
refuses() {
  mark
  sed -i "s#^file = .*#file = \"$1\"#" /etc/lookout/lookout.toml
  ! systemctl start $unit || fail "$1 started"
  is ExecMainStatus "$2" || fail "$1 ended with $(property ExecMainStatus)"
  is ActiveState failed || fail "after $1 it is $(property ActiveState)"
  is NRestarts 0 || fail "$1 was tried again"
  journal_has "$1" || fail "the journal does not name $1"
  say "$1: failed once, with $2"
  systemctl reset-failed $unit
}
systemctl stop $unit
head -c 100000 /usr/share/lookout/selftest.pt > /tmp/broken.pt
install -m 644 /tmp/broken.pt /usr/local/share/broken.pt
refuses /usr/local/share/broken.pt 65
refuses /usr/local/share/missing.pt 66
install -m 600 /usr/share/lookout/selftest.pt /usr/local/share/private.pt
refuses /usr/local/share/private.pt 77
# The owner sees this one, the service does not.
install -D -m 644 /usr/share/lookout/selftest.pt /home/owner/model.pt
refuses /home/owner/model.pt 66
journal_has 'a service does not see home folders' || fail 'the journal does not say why'

# A request does not start for ever what cannot start, and many close the address until its owner starts it.
fails_once() {
  mark
  ! (answers / .) 2> /dev/null || fail "$1 answered"
  until_true "$1: failed" is ActiveState failed
  is ExecMainStatus "$2" || fail "$1 ended with $(property ExecMainStatus)"
  [ "$(chapter | grep -c 'Main process exited')" = 1 ] || fail "one request started it more than once: $1"
}
model() { sed -i "s#^file = .*#file = \"$1\"#" /etc/lookout/lookout.toml; }
model /usr/local/share/broken.pt
systemctl reset-failed $unit
systemctl enable --now lookout.socket
fails_once 'broken model' 65
model ''
echo '[nonsense]' >> /etc/lookout/lookout.toml
fails_once 'broken configuration' 78
mark
for _ in {1..8}; do ! (answers / .) 2> /dev/null || fail 'it answered'; done
closed() { [ "$(systemctl show --value -p ActiveState lookout.socket)" = failed ]; }
until_true 'the address is closed' closed
[ "$(chapter | grep -c 'Main process exited')" -le 3 ] || fail 'it is started too often'
sed -i '$d' /etc/lookout/lookout.toml
systemctl start $unit
answers / '<!DOCTYPE html>' || fail 'it does not answer when it is mended and started'
say 'mended: seen again'

# A removal that is aborted starts again what it stopped.
export DPKG_MAINTSCRIPT_PACKAGE=lookout  # as dpkg calls them
/var/lib/dpkg/info/lookout.prerm remove
is ActiveState inactive || fail 'a removal does not stop it'
/var/lib/dpkg/info/lookout.postinst abort-remove
until_true 'a removal was aborted' answers / '<!DOCTYPE html>'
systemctl disable --now lookout.socket
systemctl stop $unit
model /home/owner/model.pt

# An instance, with a configuration of its own.
unit=lookout@front.service
sed 's#^file = .*#file = ""#; s#"/var/lib/lookout"#"/var/lib/lookout@front"#' /etc/lookout/lookout.toml \
  > /etc/lookout/front.toml
systemctl enable --now $unit
mark
show '100% Blue'
names blue
lookout doctor --config /etc/lookout/front.toml || fail 'doctor finds fault'
! lookout doctor > doctor.log || fail 'doctor does not judge the configuration of the service'
grep -q 'the service does not see /home' doctor.log || fail 'doctor does not say why the service failed'

# The unit tests of cameras, on a real driver.
systemctl stop $unit
LD_LIBRARY_PATH=/usr/lib/lookout LOOKOUT_TEST_CAMERA=$camera ./platform_tests --gtest_filter='*Camera*:V4l2*' > tests.log || { cat tests.log; fail 'tests of the camera'; }
grep -E '^\[ +(PASSED|SKIPPED) +\] [0-9]+ test' tests.log

# Memory, of the floor: a program that does nothing but load and run the archive.
if [ -e mobilenet_v2_xnnpack.pt ]; then
  install -m 644 mobilenet_v2_xnnpack.pt /usr/local/share/
  sed -i 's#^file = .*#file = "/usr/local/share/mobilenet_v2_xnnpack.pt"#' /etc/lookout/front.toml
  # Each run has another part of its libraries' files in memory: the largest of three is the floor.
  floor=$(for _ in 1 2 3; do
    LD_LIBRARY_PATH=/usr/lib/lookout ./bare_forward mobilenet_v2_xnnpack.pt 10 | sed -n 's/.*"rss_kb":\([0-9]*\).*/\1/p'
  done | sort -n | tail -n 1)
  # So has each start of the service: the median of three counts.
  memory=$(for _ in 1 2 3; do
    systemctl restart $unit
    sleep 60
    sed -n 's/^VmRSS:\s*\([0-9]*\) kB/\1/p' "/proc/$(property MainPID)/status"
  done | tee memory | sort -n | sed -n 2p)
  say "memory after a minute, of three starts, in kB: $(tr '\n' ' ' < memory)"
  say "the median is $memory kB, $((memory * 100 / floor)) % of the floor of $floor kB"
  [ $((memory * 100)) -le $((floor * 110)) ] || fail 'more than a tenth above the floor'
fi

userdel owner
dpkg --purge lookout lookout-torch > purge.log 2>&1 || { cat purge.log; fail 'dpkg --purge'; }
! systemctl -q is-active $unit || fail 'the instance still runs'
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /mnt \) -prune -o -name '*lookout*' -print)
[ -z "$left" ] || fail "purge leaves $left"
! getent passwd lookout && ! getent group lookout || fail 'purge leaves the user or its group'
say 'purged'
