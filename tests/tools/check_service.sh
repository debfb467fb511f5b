#!/bin/sh
# The systemd units: no mistake in them, their devices known, hardened, and not started for ever.
#
#   check_service.sh DEPLOY    DEPLOY: the folder of the units and of the template of two of them
#
# Exit status 77 (skipped) without systemd-analyze.
set -eu
deploy=$(realpath "$1")
command -v systemd-analyze >/dev/null || exit 77
status=0
fail() {
  echo "$*" >&2
  status=1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -D UNITS="$work/made" -P "$deploy/units.cmake"
# An instance differs from the service in its description and configuration alone.
made=$work/made
for unit in lookout.service lookout@.service; do
  grep -vE '^(Description|ExecStart)=' "$made/$unit" >"$work/$unit.common"
  ! grep -E '@[A-Z_]+@' "$made/$unit" >&2 || fail "$unit: a word of the template is left"
done
diff "$work/lookout.service.common" "$work/lookout@.service.common" >&2 ||
  fail "lookout.service and lookout@.service differ"

# The program is not installed where this runs.
mkdir "$work/units"
for unit in lookout.service lookout@.service; do
  sed 's#^ExecStart=/usr/bin/lookout #ExecStart=/bin/true #' "$made/$unit" >"$work/units/$unit"
done
cp "$deploy/lookout.socket" "$deploy/lookout@.socket" "$work/units"
for unit in lookout.service lookout@front.service lookout.socket lookout@front.socket; do
  # Says what is wrong, in lines that name the file, but not always by its exit status; the manual
  # page may not be installed either.
  systemd-analyze verify --man=no "$work/units/$unit" 2>"$work/verify" || true
  if grep -F "$work/units" "$work/verify" >&2; then
    fail "$unit: systemd-analyze verify has complaints"
  fi
done

# A group of devices that the kernel does not know when the service starts is not allowed to it, for as
# long as it runs: the module that brings it is loaded before.
for unit in lookout.service lookout@.service; do
  for group in $(sed -n 's/^DeviceAllow=char-\([^ ]*\) .*/\1/p' "$made/$unit"); do
    case $group in
    video4linux) module=videodev ;;
    media) module=mc ;;
    dma_heap) continue ;; # in the kernel itself
    *) module="(that of $group)" ;;
    esac
    for key in Wants After; do
      grep "^$key=" "$made/$unit" | grep -qwF "modprobe@$module.service" ||
        fail "$unit: no $key=modprobe@$module.service for char-$group"
    done
  done
done

# The service is not started again after errors that stay: exit statuses of pipeline/core/error.h.
for unit in lookout.service lookout@.service; do
  grep -qx 'RestartPreventExitStatus=64 65 66 72 74 77 78 216 243' "$made/$unit" ||
    fail "$unit is restarted after errors that stay"
done

# The user that the package makes, whose group reads what the service writes.
user=$(sed -n 's/^u \([^ ]*\) .*/\1/p' "$deploy/lookout.sysusers")
for unit in lookout.service lookout@.service; do
  for line in "User=$user" UMask=0077 StateDirectoryMode=0750; do
    grep -qx "$line" "$made/$unit" || fail "$unit: no $line"
  done
  ! grep '^DynamicUser=' "$made/$unit" || fail "$unit: only root can enter the folder of a dynamic user"
done
if command -v systemd-sysusers >/dev/null; then
  mkdir -p "$work/root/etc"
  systemd-sysusers --root="$work/root" "$deploy/lookout.sysusers" || fail 'lookout.sysusers is wrong'
  grep -q "^$user:" "$work/root/etc/passwd" && grep -q "^$user:" "$work/root/etc/group" ||
    fail "lookout.sysusers makes no $user"
fi

# Neither the service nor its commands can take the whole memory, as a share of what the board has.
for unit in lookout.service lookout@.service; do
  for key in MemoryHigh MemoryMax; do
    grep -Eqx "$key=[0-9]+%" "$made/$unit" || fail "$unit: no $key="
  done
done

# A frame of the camera or a token must not end in a core dump; the board has threads left for others.
for unit in lookout.service lookout@.service; do
  for line in LimitCORE=0 TasksMax=256; do
    grep -qx "$line" "$made/$unit" || fail "$unit: no $line"
  done
done

# Requests do not start a service for ever that ends at its start, and the next start opens the address again.
for unit in lookout lookout@; do
  for line in FlushPending=yes TriggerLimitIntervalSec=1h TriggerLimitBurst=5; do
    grep -qx "$line" "$deploy/$unit.socket" || fail "$unit.socket: no $line"
  done
  grep -q "^WantedBy=.* $unit.*\.service\$" "$deploy/$unit.socket" || fail "$unit.socket is not wanted by the service"
done

# A thread may lower its priority, and never raise it.
for unit in lookout.service lookout@.service; do
  grep -qx SystemCallFilter=setpriority "$made/$unit" || fail "$unit refuses a thread its low priority"
  grep -qx CapabilityBoundingSet= "$made/$unit" && ! grep '^LimitNICE=' "$made/$unit" ||
    fail "$unit lets a thread raise its priority"
done

# The exposure in tenths: 4 is 0.4 on a scale to 10. One allowed call counts as its whole group, @resources,
# of which no other is allowed: without it the exposure is 0.4.
for unit in lookout.service lookout@.service; do
  systemd-analyze security --offline=true --no-pager --threshold=5 "$made/$unit" \
    >"$work/security" || fail "$unit is more exposed than 0.5"
  tail -n 1 "$work/security"
  mkdir -p "$work/strict"
  sed '/^SystemCallFilter=setpriority$/d' "$made/$unit" >"$work/strict/$unit"
  systemd-analyze security --offline=true --no-pager --threshold=4 "$work/strict/$unit" \
    >"$work/security" || fail "$unit is more exposed than 0.4, besides setpriority"
done

# exposed DROP_IN TENTHS: the same with a drop-in, of which [Service] is the last section.
exposed() {
  {
    sed '/^\[Install\]/,$d' "$made/lookout.service"
    sed '1,/^\[Service\]/d' "$deploy/$1"
  } >"$work/with-$1.service"
  systemd-analyze security --offline=true --no-pager --threshold="$2" "$work/with-$1.service" \
    >"$work/security" || fail "with $1, lookout.service is more exposed than $2 tenths"
  tail -n 1 "$work/security"
}
exposed network-camera.conf 13
exposed mqtt.conf 13
exposed webhook.conf 13
# A chip is allowed by its file alone, and only where the example is installed.
exposed gpio.conf 5
! grep -i gpio "$made/lookout.service" || fail 'the service may use GPIO without its drop-in'
for line in 'DeviceAllow=/dev/gpiochip0 rw' SupplementaryGroups=gpio; do
  grep -qx "$line" "$deploy/gpio.conf" || fail "gpio.conf: no $line"
done
exit $status
