#!/bin/bash
# In a guest of run-guest.sh whose disk is kept: the power fails in the middle of an upgrade.
#
#   power_test.sh install         the packages of before in old/, and the service, which is set up by its owner
#   power_test.sh cut FILE        upgrades it, until dpkg has unpacked FILE beside the one before: then the power is off;
#                                 the file `cut` has what was installed just before
#   power_test.sh cut configured  ... until dpkg has unpacked all
#   power_test.sh after           what the next boot finds, and what apt says to do: dpkg --configure -a, and again;
#                                 from the boot after that on the root is read-only
#   power_test.sh read-only       the service classifies; that it cannot keep its history it says once
#
# The working folder holds the packages, and service.sh.
set -euo pipefail
. ./service.sh

engine=lookout-onnxruntime
versions() { dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' lookout $engine; }
see_red() {
  plug_in
  show '100% Red'
  mark
}

case $1 in
install)
  dpkg_install old/lookout_*.deb old/$engine*.deb
  slow_camera
  mkdir -p /etc/lookout/conf.d
  printf '[history]\nfolder = "/var/lib/lookout/history"\n' > /etc/lookout/conf.d/history.toml
  see_red
  systemctl -q enable --now $unit
  names red
  sync
  ;;
cut)
  echo 1 > /proc/sys/kernel/sysrq
  dpkg -i lookout_*.deb $engine*.deb > /dev/null 2>&1 &
  if [ "$2" = configured ]; then
    until [ "$(versions | grep -c ' unpacked$')" = 2 ]; do :; done
  else
    until [ -e "$2.dpkg-new" ]; do :; done
  fi
  echo "$2" > cut
  versions | tee -a cut
  sync cut
  echo b > /proc/sysrq-trigger
  sleep 60
  ;;
after)
  version=$(dpkg-deb -f lookout_*.deb Version)
  say "after the cut: $(versions | tr '\n' ';') the service is $(property ActiveState)"
  see_red
  dpkg --configure -a > configured 2>&1 || cat configured
  dpkg_install lookout_*.deb $engine*.deb
  [ "$(versions)" = "$(printf '%s\n' "lookout $version installed" "$engine $version installed")" ] || fail "$(versions)"
  [ -z "$(dpkg --audit)" ] || fail "$(dpkg --audit)"
  grep -q '^width = 320' /etc/lookout/lookout.toml || fail "the owner's settings are gone"
  [ -z "$(find /usr /etc -name '*.dpkg-new' -o -name '*.dpkg-tmp')" ] || fail 'parts of the upgrade are left'
  systemctl is-enabled -q $unit || fail 'it does not start at boot any more'
  # What dpkg starts again is what ran.
  systemctl start $unit
  names red
  sed -i 's/ defaults/ ro/' /etc/fstab
  ;;
read-only)
  ! touch /var/lib/lookout/probe 2> /dev/null || fail 'the root can be written'
  see_red
  is ActiveState active || fail 'the service did not start at boot'
  names red
  told=$(journalctl --no-pager -b -o cat -u $unit | grep -ciE 'history.*(read-only|cannot)' || true)
  [ "$told" = 1 ] || fail "it says $told times that it cannot keep its history"
  ;;
esac
