#!/bin/sh
# Tests of the package's prerm, postinst and postrm with a systemctl that stands in: what a removal stops runs
# again when it is aborted, and nothing else; nothing is left behind.
# shellcheck disable=SC2016  # texts of other scripts
set -eu
scripts=$(realpath "$(dirname "$0")/../../deploy/debian")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
active=$work/active
modules=$root/usr/lib/lookout/libcamera

mkdir -p "$work/bin" "$root/run/systemd/system" "$root/etc/systemd/system" "$modules"
for script in prerm postinst postrm; do
  sed -E "s,\\\$DPKG_ROOT/,/,g; s,(^|[ <>\"])/(run|usr|etc)/,\\1$root/\\2/,g" "$scripts/$script" >"$work/$script"
done
# The units that run are the lines of $ACTIVE. `start` and `stop` change them.
cat >"$work/bin/systemctl" <<'END'
#!/bin/sh
echo "$*" >>"$ACTIVE.calls"
case $1 in
list-units)
  case " $* " in *" --state=active,activating "*) sed 's/$/ loaded active running lookout/' "$ACTIVE" ;; esac
  ;;
start)
  shift
  for unit; do case $unit in -*) ;; *) echo "$unit" >>"$ACTIVE" ;; esac; done
  ;;
esac
END
cat >"$work/bin/deb-systemd-invoke" <<'END'
#!/bin/sh
[ "$1" != stop ] || : >"$ACTIVE"
END
printf '#!/bin/sh\n' >"$work/bin/deb-systemd-helper"
cp "$work/bin/deb-systemd-helper" "$work/bin/systemd-sysusers"
cp "$work/bin/deb-systemd-helper" "$work/bin/userdel"
cp "$work/bin/deb-systemd-helper" "$work/bin/groupdel"
cp "$work/bin/deb-systemd-helper" "$modules/build"
chmod +x "$work"/bin/* "$modules/build"

run() { # SCRIPT ARGUMENT...
  script=$1
  shift
  ACTIVE=$active DPKG_ROOT='' PATH="$work/bin:$PATH" sh "$work/$script" "$@"
}
expect() { # WHAT TEST...
  what=$1
  shift
  "$@" || {
    echo "maintainer_scripts_test.sh: $what; running: $(cat "$active")" >&2
    find "$root" "$work"/*.calls >&2
    exit 1
  }
}

printf '%s\n' lookout.socket lookout@front.service >"$active"
touch "$modules/built.so" "$modules/AbCdEf.new"
run prerm remove
expect 'a removal stops them' test ! -s "$active"
expect 'a removal removes what was made here' test "$(ls "$modules")" = build
run postinst abort-remove
expect 'an aborted removal starts them again' test "$(sort "$active" | tr '\n' ' ')" = 'lookout.socket lookout@front.service '
expect 'an aborted removal leaves no list' test ! -e "$root/run/lookout.stopped"

: >"$active"
run prerm remove
run postinst abort-remove
expect 'what was stopped before stays stopped' test ! -s "$active"

echo lookout.service >"$active"
run prerm remove
run postrm remove
expect 'a removal leaves no list' test ! -e "$root/run/lookout.stopped"
run postinst configure
expect 'an installation starts nothing' test ! -s "$active"
run prerm upgrade
expect 'an upgrade makes no list' test ! -e "$root/run/lookout.stopped"

# Sockets that an earlier version enabled are wanted by their services, too; a purge leaves no folder of that, nor
# what lookout setup made.
units=$root/etc/systemd/system
mkdir -p "$units/lookout.service.d" "$units/lookout.socket.d"
touch "$units/lookout.service.d/50-setup.conf" "$units/lookout.socket.d/50-setup.conf"
mkdir -p "$units/sockets.target.wants" "$units/lookout@front.service.wants" "$units/lookout.service.wants"
ln -s /lookout@.socket "$units/sockets.target.wants/lookout@front.socket"
ln -s /lookout@.socket "$units/lookout@front.service.wants/lookout@front.socket"
: >"$active.calls"
run postinst configure 0.1.0
expect 'an old socket is enabled again' grep -qx -- '--quiet enable lookout@front.socket' "$active.calls"
expect 'and no other one' test "$(grep -c enable "$active.calls")" = 1
DPKG_ROOT=$root PATH="$work/bin:$PATH" sh "$scripts/postrm" purge
expect 'a purge leaves nothing' test -z "$(find "$units" -name '*lookout*')"
echo 'maintainer_scripts_test.sh: removed, aborted, upgraded, purged'
