#!/bin/bash
# In a guest of run-guest.sh: an owner teaches the service two states over HTTP, and it tells them at once.
#
#   teach_test.sh BASE    the archive to train on
#
# The working folder holds BASE, lookout*.deb and service.sh.
set -euo pipefail
. ./service.sh
base=/usr/local/share/$1
cookie=

# ask METHOD PATH STATUS [BODY]: the answer's body is in the file `answer`, all of it in `whole`.
ask() {
  local body=${4-} status
  exec 3<> /dev/tcp/127.0.0.1/8090
  {
    printf '%s %s HTTP/1.1\r\nHost: localhost:8090\r\nConnection: close\r\nCookie: %s\r\n' "$1" "$2" "$cookie"
    [ "$1" = GET ] || printf 'Origin: http://localhost:8090\r\nX-Lookout: 1\r\nContent-Type: application/json\r\n'
    [ "$1" = GET ] || printf 'Content-Length: %d\r\n' ${#body}
    printf '\r\n%s' "$body"
  } >&3
  timeout 300 cat <&3 > whole
  exec 3>&-
  read -r _ status _ < whole
  sed '1,/^\r$/d' whole > answer
  [ "$status" = "$3" ] || { echo "$1 $2: $(cat whole)"; return 1; }
}
teach=/api/1/teach
answers() { ask GET "$1" 200 && grep -qE -- "$2" answer; }

# hold LABEL: until five pictures are kept. A lease that has run out on this slow machine is begun again.
hold() {
  number=
  until_true "pictures of $1" has_pictures "$1"
  ask DELETE "$teach/holds/$number" 200
}
has_pictures() {
  if [ -z "$number" ] || ! ask PUT "$teach/holds/$number" 200 || ! grep -q '"held":true' answer; then
    ask POST $teach/watches/door/holds 201 "{\"class\":\"$1\"}"
    number=$(sed -E 's/.*"number":([0-9]+).*/\1/' answer)
  fi
  ask GET "$teach/pictures?watch=door&class=$1" 200
  [ "$(grep -o '"number"' answer | wc -l)" -ge 5 ]
}

install_packages
install -m 644 "$1" "$base"
plug_in
slow_camera
sed -i "s#^\[http\]#[http]\nteach = true#; s#^\[model\]#[model]\nbase = \"$base\"#" /etc/lookout/lookout.toml
echo 'the cat sat on the mat' | lookout password
systemctl enable --now lookout.socket
show '100% Green'
mark
systemctl start $unit
names green
process=$(property MainPID)

ask GET $teach 401
ask POST /api/1/login 200 '{"password":"the cat sat on the mat"}'
cookie=$(sed -n 's/^Set-Cookie: \([^;]*\).*/\1/p' whole)
ask POST $teach/watches 201 '{"name":"door","title":"The door","roi":[0.1,0.1,0.8,0.8],"classes":["open","closed"]}'
hold open
show '100% Blue'
hold closed
until_true 'by its pictures the door looks closed' answers $teach/watches/door/preview '"label":"closed"'
ask POST $teach/watches/door/job 202
until_true trained answers $teach '"state":"(done|failed)"'
grep -q '"state":"done"' answer || fail "no model: $(cat answer)"
model=$(grep -oE '"sha256":"[0-9a-f]+"' answer | head -n 1)
ask PUT $teach/watches/door/model 200 "{$model}"
until_true 'the door is closed' answers /state '"state":"closed"'
show '100% Green'
until_true 'the door is open' answers /state '"state":"open"'
[ "$(property MainPID)" = "$process" ] || fail 'the service was started again'

systemctl restart $unit
until_true 'the door is open after a restart' answers /state '"state":"open"'
ask DELETE $teach/watches/door 204
nobody_watches() { answers /state '"camera"' && ! grep -q '"door"' answer; }
until_true 'nothing is watched any more' nobody_watches
