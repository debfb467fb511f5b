#!/bin/bash
# What computes, on an x86 processor unlike this one: a Haswell, in an emulator, which has AVX2 and neither
# AVX-512 nor VNNI. Engines choose other kernels there.
#
#   processors.sh [CPU]    CPU: as qemu-x86_64 -cpu names it, by default Haswell
#
# The target stage does the same for the Cortex-A72. Needs the host's build; 77 where it, the emulator or an
# x86 processor is missing.
# shellcheck disable=SC2317  # part calls the functions
set -euo pipefail
cd "$(dirname "$0")/.."

cpu=${1-Haswell}
build=build/host
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Of scores: room for one rounding that goes the other way, as in target.sh.
tolerance=0.005

missing() {
  echo "skipped: processors: $*"
  exit 77
}
[ "$(uname -m)" = x86_64 ] || missing 'this is no x86 processor'
command -v qemu-x86_64 >/dev/null || missing 'there is no qemu-x86_64 (apt-get install qemu-user)'
for program in $build/app/lookout $build/tests/{pipeline,torch,onnx}_tests; do
  [ -x "$program" ] || missing "$program is not built"
done

# The emulator warns of each feature that it leaves out.
emulated() { qemu-x86_64 -cpu "$cpu" "$@" 2> >(grep -v "TCG doesn't support" >&2); }

failed=0
# part NAME COMMAND...
part() {
  echo "== $cpu: $1"
  "${@:2}" || failed=1
}

# The program names the 16 patterns with the scores that it has here.
same_scores() {
  local frames=(run 'test://all?fps=0&hold=1&frames=16' --model "$1" --threads 1 --format json)
  "$build/app/lookout" "${frames[@]}" --log-level warn >"$work/here" &&
    emulated "$build/app/lookout" "${frames[@]}" --log-level warn >"$work/there" &&
    python3 tests/tools/same_results.py "$work/here" "$work/there" "$tolerance"
}

# Of the models' tests the one that compares a quantized model in two sessions.
python_scores() {
  local python
  python=$(PYTHONPATH=tests/tools /usr/bin/python3 -c 'import pathlib, pypi_program
print(pypi_program.python_with(pathlib.Path("models/onnx_format/requirements.txt")))') || return 1
  emulated "$python" tests/models/run.py onnx_test.OperatorsTest
}

part 'pictures, training' emulated $build/tests/pipeline_tests --gtest_brief=1 \
  --gtest_filter='*Preprocessor*:*InputQuantization*:*TopK*:Softmax*:Fit*:CrossValidation*:Calibration*'
part 'ONNX Runtime' emulated $build/tests/onnx_tests --gtest_brief=1
# Without the float archive, whose sums take the emulator minutes; Python, which is not emulated, would add
# in another order, too.
part LibTorch emulated $build/tests/torch_tests --gtest_brief=1 \
  --gtest_filter='*Archives.Give*:QuantizedInput.*:TorchTrainerTest.*:TrainedArchive.*-*_float'
part 'LibTorch: the self-test model' same_scores models/selftest.pt
part 'ONNX Runtime: the self-test model' same_scores models/onnx_format/selftest.onnx
part 'Python' python_scores
exit $failed
