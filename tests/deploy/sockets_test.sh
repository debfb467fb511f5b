#!/bin/bash
# Tests of lookout.socket with a systemd of its own, in namespaces, and a service that stands in: it fails for
# good, is mended, or waits for its camera. Exit status 77 (skipped) without root or systemd.
#
#   sockets_test.sh
set -euo pipefail
deploy=$(realpath "$(dirname "$0")/../../deploy")
if [ $# = 0 ]; then
  manager=/lib/systemd/systemd
  [ "$(id -u)" = 0 ] && [ -x $manager ] && unshare -Cmnp --fork true 2> /dev/null || exit 77
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  unshare -Cmnp --fork --kill-child "$0" "$work" || { cat "$work/log" >&2; exit 1; }
  exit
fi
work=$1
units=$work/config/systemd/user
mount --make-rprivate /
mount -t proc proc /proc
mount -t tmpfs tmpfs /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system  # "the system was booted with systemd"
ip link set lo up
mkdir -p "$units" "$work/run"
cp /usr/lib/systemd/user/{default,basic,sockets,shutdown,exit,paths,timers}.target "$units"

# What the units say of starts, with a shorter wait; the template has the lines of both services.
{
  grep -E '^(\[Unit\]|StartLimit.*)$' "$deploy/lookout.service.in"
  printf '[Service]\nNotifyAccess=all\nExecStart=%s/service\n' "$work"
  grep -E '^(Type|Restart|RestartPreventExitStatus)=' "$deploy/lookout.service.in"
  echo RestartSec=200ms
} > "$units/lookout.service"
cp "$deploy/lookout.socket" "$units"
cat > "$work/service" << END
#!/usr/bin/python3
import os, socket, subprocess, sys

with open("$work/starts", "a") as starts:
    print(file=starts)
with open("$work/status") as status:
    status = int(status.read())
if status:
    sys.exit(status)
subprocess.run(["systemd-notify", "--ready"])
listening = socket.socket(fileno=3)
while True:
    client, _ = listening.accept()
    client.recv(100)
    client.sendall(b"served\n")
    client.close()
END
chmod +x "$work/service"

export XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run SYSTEMD_UNIT_PATH=$units
SYSTEMD_LOG_TARGET=console /lib/systemd/systemd --user > "$work/log" 2>&1 &
fail() {
  echo "sockets_test.sh: line ${BASH_LINENO[0]}: $*" >&2
  systemctl --user status --no-pager lookout.socket lookout.service >&2 || true
  exit 1
}
# until_true COMMAND...: it has half a minute.
until_true() {
  local deadline=$((SECONDS + 30))
  until "$@" 2> /dev/null; do
    [ $SECONDS -lt $deadline ] || fail "waited in vain: $*"
    sleep 0.05
  done
}
ends_with() {
  echo "$1" > "$work/status"
  : > "$work/starts"
}
starts() { wc -l < "$work/starts"; }
# A client that waits until it is answered or refused.
ask() { (exec 3<> /dev/tcp/127.0.0.1/8090 && echo >&3 && timeout 60 cat <&3) 2> /dev/null; }
served() { [ "$(ask)" = served ]; }
is() { [ "$(systemctl --user show --value -p ActiveState "lookout.$1")" = "$2" ]; }

until_true systemctl --user --quiet is-active default.target
systemctl --user --quiet enable --now lookout.socket

# A client starts the service.
ends_with 0
served || fail 'a client does not start it'
systemctl --user --quiet stop lookout.service

ends_with 65
! served || fail 'a broken service served'
until_true is service failed
is socket active || fail 'the socket went with one failure'
[ "$(starts)" = 1 ] || fail "one request started it $(starts) times"
for _ in {2..20}; do ! served || fail 'a broken service served'; done
[ "$(starts)" = 4 ] || fail "20 requests started it $(starts) times"
is socket failed || fail 'the address stays open'

ends_with 0
systemctl --user start lookout.service
served || fail 'it does not serve when it is mended and started'
systemctl --user restart lookout.service
served || fail 'it does not serve after a restart'

# As without a camera, with camera.wait = false.
ends_with 69
systemctl --user restart lookout.service 2> /dev/null || true
many_starts() { ask || true; [ "$(starts)" -ge 12 ]; }
until_true many_starts
ends_with 0
until_true served

echo 'sockets_test.sh: started, broken, mended, and without a camera'
