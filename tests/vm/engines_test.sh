#!/bin/bash
# In a guest of run-guest.sh: engines come and go under the running service.
#
# The working folder holds lookout*.deb, old.deb (0.1.0, with LibTorch inside) and service.sh, and
# mobilenet_v2_s8.onnx where the memory of a real model is to be measured.
set -euo pipefail
. ./service.sh
settings=/etc/lookout/lookout.toml
selftest=/usr/share/lookout/selftest
no_torch='TorchScript models cannot be run: there is no /usr/lib/lookout/liblookout-torch.so; install the package lookout-torch'
no_onnxruntime='ONNX models cannot be run: there is no /usr/lib/lookout/liblookout-onnxruntime.so; install the package lookout-onnxruntime'

# refused SENTENCE ARGUMENTS...: the program ends with it.
refused() {
  local sentence=$1 status=0
  shift
  lookout "$@" --log-level error > out 2>&1 || status=$?
  [ $status = 66 ] || fail "$* ended with $status: $(cat out)"
  grep -qF "$sentence" out || fail "$* says $(cat out)"
}

# failed_once SENTENCE: the service did, and stays down; RestartSec= is 5 s.
failed_once() {
  until_true 'the service ended' is ActiveState failed
  sleep 7
  is ActiveState failed || fail "it is $(property ActiveState)"
  is NRestarts 0 || fail "it was started again $(property NRestarts) times"
  is ExecMainStatus 66 || fail "it ended with $(property ExecMainStatus)"
  [ "$(chapter | grep -cF "$1")" = 1 ] || fail 'the journal does not have the sentence once'
}

use_model() { sed -i "/^\[model\]/,/^\[/s#^file = .*#file = \"$1\"#" $settings; }

memory_after_a_minute() {
  local kb
  sleep 60
  kb=$(sed -n 's/^VmRSS:\s*\([0-9]*\) kB/\1/p' "/proc/$(property MainPID)/status")
  say "$1: after a minute the service has $kb kB"
  [ "$kb" -le 102400 ] || fail 'more than 100 MB'
}

remove() { dpkg -r "$1" > out 2>&1 || fail "dpkg -r $1: $(cat out)"; }
install_old() {
  dpkg_install old.deb
  slow_camera
  mark
  systemctl -q enable --now $unit
  names red
  say 'the service of 0.1.0'
}

plug_in
show '100% Red'

install_old
mark
dpkg_install lookout_*.deb lookout-torch_*.deb lookout-onnxruntime_*.deb
names red
[ "$(dpkg -S /usr/lib/lookout/libtorch_cpu.so)" = 'lookout-torch: /usr/lib/lookout/libtorch_cpu.so' ] ||
  fail 'LibTorch is not that of lookout-torch'
say '0.1.0 was upgraded'
mark
dpkg_install lookout-torch_*.deb
names red
say 'the service goes on with the new LibTorch'

mark
remove lookout-torch
names red
say 'the service goes on with ONNX Runtime'
memory_after_a_minute selftest.onnx
if [ -e mobilenet_v2_s8.onnx ]; then
  cp mobilenet_v2_s8.onnx /usr/local/share
  use_model /usr/local/share/mobilenet_v2_s8.onnx
  systemctl restart $unit
  memory_after_a_minute mobilenet_v2_s8.onnx
  rm /usr/local/share/mobilenet_v2_s8.onnx
fi
refused "$no_torch" test://red --timeout 1s --model $selftest.pt
use_model $selftest.pt
mark
systemctl restart $unit 2> /dev/null || true
failed_once "$no_torch"
mark
dpkg_install lookout-torch_*.deb
names red
say 'with its engine the service is there again'

mark
remove lookout-onnxruntime
names red
refused "$no_onnxruntime" test://red --timeout 1s --model $selftest.onnx
say 'LibTorch works without ONNX Runtime'

# Over 0.1.0 the program alone has no engine: apt refuses that, and so does dpkg unless it is forced.
dpkg --purge lookout-torch lookout > out 2>&1 || fail "dpkg --purge: $(cat out)"
install_old
mark
! dpkg -i lookout_*.deb > install.log 2>&1 || fail 'the program was installed without an engine'
dpkg --force-depends --configure lookout > install.log 2>&1 || { cat install.log; fail 'dpkg --configure lookout'; }
failed_once "$no_torch"
refused "$no_torch" test://red --timeout 1s
lookout doctor --config $settings > out 2>&1 || true
grep -q "^note .*$no_torch" out && grep -q "^note .*$no_onnxruntime" out &&
  grep -q 'would end with exit status 66' out || fail "doctor: $(cat out)"
say 'without an engine: one sentence'

dpkg --purge lookout > out 2>&1 || fail "dpkg --purge: $(cat out)"
left=$(find / -xdev \( -path /proc -o -path /sys -o -path /mnt \) -prune -o -name '*lookout*' -print)
[ -z "$left" ] || fail "purge leaves $left"
say 'engines came and went'
