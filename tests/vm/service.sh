#!/bin/bash
# Sourced in a guest by tests of the package's service: how they wait, fail and look at it. Defines
# $unit and $camera, which is vivid; a failure shows the files of $shown, too, if there are any.
unit=lookout.service
camera=/dev/video0
shown=()

say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
fail() {
  echo "${0##*/}: line ${BASH_LINENO[0]}: $*" >&2
  [ ${#shown[@]} = 0 ] || tail -n 20 "${shown[@]}" >&2 || true
  systemctl status --no-pager --lines=0 $unit >&2 || true
  journalctl --no-pager -u $unit -n 60 >&2
  exit 1
}
trap 'fail "${BASH_COMMAND} failed"' ERR

dpkg_install() { dpkg -i "$@" > install.log 2>&1 || { cat install.log; fail "dpkg -i $*"; }; }
install_packages() { dpkg_install lookout_*.deb lookout-torch_*.deb; }

# until_true WHAT COMMAND...: it has five minutes; to load LibTorch takes an emulated machine one or two.
until_true() {
  local what=$1 deadline=$((SECONDS + 300))
  shift
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || fail "waited in vain: $what"
    sleep 0.2
  done
  say "$what"
}

# The journal is read in chapters: what came since the last `mark`.
mark() { cursor=$(journalctl --no-pager -n 0 --show-cursor | sed -n 's/^-- cursor: //p'); }
chapter() { journalctl --no-pager -o cat -u $unit --after-cursor "$cursor"; }
journal_has() { chapter | grep -qE -- "$1"; }
names() { until_true "the journal names: $1" journal_has "^[0-9]+: $1 [0-9.]+ %"; }

property() { systemctl show --value -p "$1" $unit; }
is() { [ "$(property "$1")" = "$2" ]; }

# show NAME: the camera shows this pattern of vivid's menu.
show() {
  local number
  number=$(v4l2-ctl -d $camera --list-ctrls-menus | sed -n "/test_pattern/,/^ *[a-z_]* 0x/s/^\t* *\([0-9]*\): $1\$/\1/p" | head -n 1)
  [ -n "$number" ] || fail "the camera has no pattern $1"
  v4l2-ctl -d $camera --set-ctrl "test_pattern=$number"
}

# A camera that shows nothing but its pattern.
plug_in() {
  modprobe vivid
  udevadm settle
  v4l2-ctl -d $camera --set-ctrl osd_text_mode=2
}

# vivid's thread stumbles in a machine that is slower than its rate; the rest is about other things.
slow_camera() {
  sed -i 's/^# width = .*/width = 320/; s/^# height = .*/height = 180/; s/^# framerate = .*/framerate = 5/' \
    /etc/lookout/lookout.toml
}

exposure() { systemd-analyze security --no-pager $unit | sed -n 's/.*exposure level for [^ ]*: \([0-9.]*\) .*/\1/p'; }
