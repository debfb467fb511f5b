#!/bin/bash
# In a guest of run-guest.sh, which knows nothing but the addresses of two repositories: one command installs, and
# another one sets the service up, with a broker, a page with a password and its start at boot. The second time it
# changes no byte, and --undo leaves nothing.
#
# The working folder holds the repository, the package of its keyring, debian/, which is in the place of a mirror,
# broker/ with the packages of mosquitto and what these need, and service.sh.
set -euo pipefail
. ./service.sh

# What setup may write: names, modes, owners and contents.
everything() {
  find /etc /usr/local \( -type f -printf '%p %m %U:%G ' -exec sh -c 'sha256sum <"$1"' sh {} \; \
    -o -type l -printf '%p -> %l\n' -o -type d -printf '%p/ %m\n' \) | sort
}
# of_broker PROGRAM ARGUMENTS...: nothing of mosquitto is installed, so that lookout cannot use its library.
of_broker() {
  local program
  program=$(echo /opt/broker/usr/*bin/"$1")
  shift
  LD_LIBRARY_PATH=$(printf '%s:' /opt/broker/{usr/,}lib/*-linux-gnu) "$program" "$@"
}
retained() { of_broker mosquitto_sub -h 127.0.0.1 -u house -P 'open sesame' -q 1 -C 1 -W 60 -t "$1"; }
discovered() { retained 'homeassistant/#' | grep -q '"front"'; }
# page PATH: the status of its answer.
page() {
  local status
  exec 3<> /dev/tcp/127.0.0.1/8090
  printf 'GET %s HTTP/1.1\r\nHost: localhost:8090\r\nConnection: close\r\n\r\n' "$1" >&3
  read -r _ status _ <&3
  exec 3>&-
  echo "$status"
}
setup() {
  lookout setup --yes --camera $camera --name front --model "$model" --broker 127.0.0.1 --broker-user house \
    --broker-password-file broker.password --page house --page-password-file page.password
}

for deb in broker/*.deb; do dpkg-deb -x "$deb" /opt/broker; done
install -m 600 /dev/null /opt/broker/passwd
of_broker mosquitto_passwd -b /opt/broker/passwd house 'open sesame'
printf 'user root\nlistener 1883 127.0.0.1\nallow_anonymous false\npassword_file /opt/broker/passwd\n' > /opt/broker/conf
of_broker mosquitto -d -c /opt/broker/conf
[ -z "$(ldconfig -p | grep -E 'libmosquitto|libcurl[.]')" ] || fail 'the guest has the libraries before they are installed'
rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*
dpkg_install lookout-archive-keyring_*.deb
echo 'deb [trusted=yes] file:/mnt/host/debian ./' > /etc/apt/sources.list.d/debian.list
apt-get update > install.log 2>&1 && apt-get install -y lookout >> install.log 2>&1 || fail "$(cat install.log)"
say 'installed by apt'
plug_in
show '100% Green'
slow_camera
echo 'open sesame' > broker.password
echo 'the cat sat on the mat' > page.password
model=none
everything > before

runuser -u nobody -- lookout setup --yes 2> refused && fail 'nobody may set up'
grep -q 'sudo lookout setup --yes' refused || fail "it says $(cat refused)"
lookout setup < /dev/null 2> refused && fail 'it asks without a terminal'
echo wrong > broker.password
setup && fail 'a wrong password is taken'
everything | cmp - before || fail 'an answer that does not work changes something'
echo 'open sesame' > broker.password

setup | tee told
grep -q 'It sees: green' told || fail 'the first result is not told'
grep -q ':8090/' told || fail 'the address of the page is not told'
is ActiveState active || fail 'the service does not run'
systemctl is-enabled $unit lookout.socket > /dev/null || fail 'it does not start at boot'
until_true 'Home Assistant would find the camera' discovered
[ "$(page /state)" = 401 ] || fail 'who is not logged in sees the state'
[ "$(page /teach)" = 200 ] || fail 'nobody can log in'
say "set up, exposed by $(exposure)"

everything > set-up
process=$(property MainPID)
setup | tee told
grep -q 'Nothing was changed' told || fail 'the second run changes something'
everything | cmp - set-up || fail 'the second run writes something'
[ "$(property MainPID)" = "$process" ] || fail 'the second run starts the service again'
lookout setup --show

lookout setup --undo
everything > undone
diff before undone || fail 'undo leaves something'
is ActiveState inactive || fail 'the service still runs'
[ -z "$(retained 'homeassistant/#' 2> /dev/null)" ] || fail 'Home Assistant would still have the camera'

# Where the repository has the base, one more package is enough to teach.
model=base
if compgen -G 'repository/pool/*/lookout-base/*.deb' > /dev/null; then
  setup 2> refused && fail 'there is no base, and setup does not say so'
  grep -q 'sudo apt install lookout-base' refused || fail "it says $(cat refused)"
  apt-get install -y lookout-base > install.log 2>&1 || fail "$(cat install.log)"
  setup | tee told
  grep -q 'log in to teach' told || fail 'the way to teach is not told'
  is ActiveState active || fail 'the service does not run with the base'
  lookout setup --undo
else
  say 'not tried: setup --model base, since the repository has no lookout-base'
fi
