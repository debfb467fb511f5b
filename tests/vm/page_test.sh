#!/bin/bash
# In a guest of run-guest.sh: the service, for a browser outside (tests/page/guest_test.py).
#
#   page_test.sh BASE    the archive to train on
#
# The working folder holds BASE, lookout*.deb and service.sh. What the browser wants is in its file `asked`, with
# a number: `show PATTERN` of the camera, `restart`, or `end`; the file `done` has the number of the last one.
set -euo pipefail
. ./service.sh
base=/usr/local/share/$1
address=10.0.2.15 # that of qemu's network for its first guest

install_packages
install -m 644 "$1" "$base"
plug_in
slow_camera
sed -i "s#^\[http\]#[http]\nteach = true#; s#^\[model\]#[model]\nbase = \"$base\"#
  /^\[history\]/,/^\[/s#^folder = .*#folder = \"/var/lib/lookout/history\"#" /etc/lookout/lookout.toml
echo 'the cat sat on the mat' | lookout password
systemctl -q enable --now lookout.socket
modprobe virtio_net
udevadm settle
network=$(ls -d /sys/class/net/e*)
busybox ip link set "${network##*/}" up
busybox ip addr add $address/24 dev "${network##*/}"
# As by ssh -L: the service's own address stays that of this machine alone.
systemd-run -q --unit forward systemd-socket-activate -l $address:8090 /lib/systemd/systemd-socket-proxyd 127.0.0.1:8090
show '100% Green'
mark
systemctl -q start $unit
names green
last=
# A line that is only begun does not count.
is_asked() { read -r number what argument 2> /dev/null < asked && [ "$number" != "$last" ]; }
while :; do
  until is_asked; do sleep 0.2; done
  case $what in
  show) show "$argument" ;;
  restart) systemctl restart $unit ;;
  end) break ;;
  esac
  say "$what $argument"
  last=$number
  echo "$number" > done
done
