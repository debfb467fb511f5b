#!/bin/bash
# In a guest of run-guest.sh: new models that hang, take all memory or end the process, while the service
# classifies with them. The one before comes back by itself, and whoever looks is told: in the log, at the command
# line, over HTTP, and over MQTT by a broker on the same board.
#
# The working folder holds good.pt, hangs.pt, greedy.pt and crashes.pt of bad_models.py, lookout*.deb and service.sh.
set -euo pipefail
. ./service.sh
model=/usr/local/share/lookout/door.pt
settings=/etc/lookout/lookout.toml
socket=/run/mosquitto-lookout/socket

# answers PATH PATTERN: the HTTP server's answer has it.
answers() {
  exec 3<> /dev/tcp/127.0.0.1/8090
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
  timeout 300 head -c 100000 <&3 > answer
  exec 3>&-
  LC_ALL=C grep -qE -- "$2" answer
}

# attributes PATTERN: those of the state, which Home Assistant shows, have it.
attributes() { mosquitto_sub -h 127.0.0.1 -q 1 -C 1 -W 60 -t lookout/front/state/attributes | grep -qE -- "$1"; }
no_failed_model() { attributes '"since"' && ! attributes '"failed_model"'; }

# put_in_place NAME: a new model, which is fine as long as the picture is red. It is judged for 30 s and loaded for
# 40 s at most, which an emulated machine may exceed: nothing else happens there, and it may try again.
put_in_place() {
  local tries=0
  until is_put_in_place "$1"; do
    tries=$((tries + 1))
    [ $tries -lt 8 ] || fail "$1 is not put in place: $(cat out)"
  done
  names red
  say "$1 is in use, tried $((tries + 1)) times"
}
is_put_in_place() {
  systemctl -q stop $unit 2> /dev/null
  lookout model install "$1.pt" > out 2>&1 || {
    grep -q 'takes more than 30 s' out || fail "lookout model install $1.pt: $(cat out)"
    return 1
  }
  mark
  systemctl start $unit 2> /dev/null || {
    journal_has 'loading it took more than 40 s' || fail "the service does not start with $1"
    systemctl start $unit  # with the one before; then this one may be installed again
    return 1
  }
}

# goes_back NAME PICTURE COLOR WHY: with this picture NAME goes wrong, and the model before names the color.
goes_back() {
  local name=$1 begin=$SECONDS
  show "$2"
  names "$3"
  say "with $name the board was away for $((SECONDS - begin)) s:"
  journalctl --no-pager -o short-monotonic -u $unit --after-cursor "$cursor" |
    grep -E 'did not return|Main process exited|Failed with|Scheduled restart|Starting|attempt|is not used|oom|Started|[0-9]+: [a-z]+ [0-9.]+ %'
  journal_has "$name .* is not used: $4.*; good .*, the one before, is used in its place" ||
    fail "the journal does not say why $name is not used"
  lookout model list > out
  grep -qE "failed.*$name|$name.*failed" out || fail "lookout model list says $(cat out)"
  answers /metrics '^lookout_model_fallback[{ ].*1$' || fail "the metrics say $(grep fallback answer)"
  answers /state '"instead_of":"[0-9a-f]{64}"' || fail "/state says $(cat answer)"
  until_true "MQTT tells of $name" attributes "\"failed_model\":\"$name "
}

printf 'listener 1883 127.0.0.1\nlistener 0 %s\nallow_anonymous true\n' $socket > /etc/mosquitto/conf.d/lookout.conf
install_packages
install -D -m 644 /usr/share/doc/lookout/examples/mqtt-unix.conf /etc/systemd/system/mosquitto.service.d/lookout.conf
systemctl daemon-reload
systemctl restart mosquitto
plug_in
slow_camera
install -Dm 644 good.pt $model
sed -i "/^\[model\]/,/^\[/s#^file = .*#file = \"$model\"#
  /^\[mqtt\]/,/^\[/s#^url = .*#url = \"mqtt+unix:$socket\"#
  /^\[camera\]/,/^\[/s/^name = .*/name = \"front\"/" $settings
systemctl -q enable --now lookout.socket
show '100% Red'
mark
systemctl -q enable --now $unit
names red

put_in_place hangs
goes_back hangs '100% Green' green 'it did not return'

show '100% Red'
put_in_place greedy
goes_back greedy '100% Blue' blue '(it did not return|the program ended 2 times)'

# It may have proved itself before: then two crashes within minutes count.
show '100% Red'
put_in_place crashes
goes_back crashes '100% Green' green 'the program ended 2 times'

# Once the owner has another one, it is as if nothing had been.
show '100% Red'
put_in_place good
answers /metrics '^lookout_frames_captured_total' || fail 'there are no metrics'
! grep fallback answer || fail 'the metrics still tell of a model that failed'
until_true 'MQTT does not tell of it any more' no_failed_model
say 'a good model ends it'
