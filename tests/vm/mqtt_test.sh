#!/bin/bash
# In a guest of run-guest.sh: the service with the broker mosquitto on the same board, by a Unix socket and
# by TCP, as the examples in /usr/share/doc/lookout/examples say.
#
# The working folder holds lookout*.deb and service.sh.
set -euo pipefail
. ./service.sh
socket=/run/mosquitto-lookout/socket
examples=/usr/share/doc/lookout/examples
settings=/etc/lookout/lookout.toml

retained() { mosquitto_sub -h 127.0.0.1 -q 1 -C 1 -W 60 -t "lookout/front/$1"; }
says() { [ "$(retained "$1")" = "$2" ]; }
connect_by() {
  local url=$1
  sed -i "/^\[mqtt\]/,/^\[/s#^url = .*#url = \"$url\"#" $settings
  mark
  systemctl restart $unit
  until_true "connected to $url" journal_has 'mqtt: connected to'
}

cat > /etc/mosquitto/conf.d/lookout.conf <<END
listener 1883 127.0.0.1
listener 0 $socket
allow_anonymous true
END
install_packages
install -D -m 644 $examples/mqtt-unix.conf /etc/systemd/system/mosquitto.service.d/lookout.conf
systemctl daemon-reload
systemctl restart mosquitto
plug_in
show '100% Red'
slow_camera
sed -i '/^\[camera\]/,/^\[/s/^name = .*/name = "front"/' $settings
grep -q '^name = "front"' $settings || fail 'the camera has no name'

without=$(exposure)
connect_by "mqtt+unix:$socket"
until_true 'the broker knows the state' says state red
show '100% Blue'
until_true 'and the next one' says state blue
says available online || fail 'it is not online'
retained snapshot | LC_ALL=C grep -aqP '^\xff\xd8\xff' || fail 'there is no picture'
[ "$(exposure)" = "$without" ] || fail "with the socket it is exposed by $(exposure), not $without"
say "by the Unix socket, exposed by $(exposure)"

# A broker that stalls delays no frame. One that is gone is found again.
broker=$(systemctl show --value -p MainPID mosquitto)
kill -STOP "$broker"
mark
show '100% Green'
names green
kill -CONT "$broker"
until_true 'a broker that stalled gets the newest state' says state green
mark
systemctl stop mosquitto
until_true 'the broker is missed' journal_has 'mqtt: '
show '100% Red'
names red
systemctl start mosquitto
until_true 'a broker that forgot everything is told again' says state red

mkdir -p /etc/systemd/system/$unit.d
sed 's/^IPAddressAllow=.*/IPAddressAllow=127.0.0.1/' $examples/mqtt.conf > /etc/systemd/system/$unit.d/mqtt.conf
systemctl daemon-reload
connect_by mqtt://127.0.0.1:1883
show '100% Blue'
until_true 'the broker knows the state' says state blue
say "by TCP, exposed by $(exposure)"
systemctl kill --signal=KILL $unit
until_true 'the broker says that it died' says available offline
until_true 'and that it is back' says available online
systemctl stop $unit
says available stopped || fail "stopped, but $(retained available)"
lookout mqtt forget --config $settings
left=$(mosquitto_sub -h 127.0.0.1 -W 5 -F '%t' -t '#' --retained-only 2> /dev/null) || true
[ -z "$left" ] || fail "forgetting leaves: $left"
say 'forgotten'
