#!/bin/bash
# In a guest of run-guest.sh: new models that hang, or take all memory, while the service classifies with
# them. The one before comes back by itself.
#
# The working folder holds good.pt, hangs.pt and greedy.pt of bad_models.py, lookout*.deb and service.sh.
set -euo pipefail
. ./service.sh
model=/usr/local/share/lookout/door.pt

# answers PATH PATTERN: the HTTP server's answer has it.
answers() {
  exec 3<> /dev/tcp/127.0.0.1/8090
  printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3
  timeout 300 head -c 100000 <&3 > answer
  exec 3>&-
  LC_ALL=C grep -qE -- "$2" answer
}

# install_bad NAME: a new model, which is fine as long as the picture is red.
install_bad() {
  mark
  lookout model install "$1.pt" > out 2>&1 || fail "lookout model install $1.pt: $(cat out)"
  say "$1 is in use"
}

# goes_back NAME PICTURE COLOR WHY: with this picture NAME goes wrong, and the model before names the color.
goes_back() {
  local name=$1 begin=$SECONDS
  show "$2"
  names "$3"
  say "with $name the board was away for $((SECONDS - begin)) s, of which an emulated start takes most"
  journal_has "$name .* is not used: $4.*; good .*, the one before, is used in its place" ||
    fail "the journal does not say why $name is not used"
  lookout model list > out
  grep -qE "failed.*$name|$name.*failed" out || fail "lookout model list says $(cat out)"
  answers /metrics '^lookout_model_fallback[{ ].*1$' || fail "the metrics say $(grep fallback answer)"
  answers /state '"instead_of":"[0-9a-f]{64}"' || fail "/state says $(cat answer)"
}

install_packages
plug_in
slow_camera
install -Dm 644 good.pt $model
sed -i "/^\[model\]/,/^\[/s#^file = .*#file = \"$model\"#" /etc/lookout/lookout.toml
systemctl -q enable --now lookout.socket
show '100% Red'
mark
systemctl -q enable --now $unit
names red

install_bad hangs
goes_back hangs '100% Green' green 'it did not return'

show '100% Red'
install_bad greedy
goes_back greedy '100% Blue' blue '.*'

# Once the owner has another one, it is as if nothing had been.
show '100% Red'
mark
lookout model install good.pt > out 2>&1 || fail "lookout model install good.pt: $(cat out)"
answers /metrics '^lookout_frames_captured_total' || fail 'there are no metrics'
! grep fallback answer || fail 'the metrics still tell of a model that failed'
say 'a good model ends it'
