#!/bin/bash
# Tests of tests/run.sh with programs that stand in for those that it runs.
# shellcheck disable=SC2016  # texts of other scripts
set -euo pipefail
source=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/checkout
mkdir -p "$work/bin" "$root"/{deploy,toolchains,tests/{deploy,models,soak,tools,vm}}
cp "$source"/{run,counting}.sh "$root/tests/"

# Each writes down its call.
stand_in() {
  printf '#!/bin/sh\necho "${0##*/} $*" >>"$WORK/calls"\n' >"$1"
  chmod +x "$1"
}
for program in cmake cpack ctest nproc id; do
  stand_in "$work/bin/$program"
done
for script in deploy/install-deps.sh toolchains/make-sysroot.sh tests/deploy/apt_root.sh \
  tests/{target,run_test,deploy/{install_deps,package,libcamera_module,maintainer_scripts,sockets,apt_repository,release}_test}.sh tests/soak/soak.py \
  tests/vm/binfmt.sh tests/tools/check_{service,style,libcamera}.sh tests/tools/check_{layering,size,links}.py; do
  stand_in "$root/$script"
done
echo 'echo 2' >>"$work/bin/nproc"
echo 'echo "$USER_ID"' >>"$work/bin/id"
echo 'echo "the output of soak"' >>"$root/tests/soak/soak.py"
echo 'exit 77' >>"$root/tests/tools/check_size.py"
echo 'print("models")' >"$root/tests/models/run.py"
cat >>"$work/bin/ctest" <<'END_OF_CTEST'
mkdir -p "build/$2/Testing/Temporary"
cat "$WORK/log" >"build/$2/Testing/Temporary/LastTest.log"
END_OF_CTEST
cat >"$work/log" <<'END_OF_LOG'
1/3 Testing: some_tests.0
[ RUN      ] Some.Test
[       OK ] Some.Test (200 ms)
[       OK ] Each/Some.Slow/0 (700000 ms)
[  FAILED  ] Each/Some.Fault/1, where GetParam() = 1 (600000 ms)
[----------] 3 tests from Some (900000 ms total)
[  PASSED  ] 2 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Each/Some.Fault/1, where GetParam() = 1
Test time =   9.00 sec
Test Failed.
2/3 Testing: toml_test
Test time = 500.25 sec
Test Passed.
3/3 Testing: other_tests.0
[       OK ] Other.Test (400000 ms)
[  SKIPPED ] Other.Skipped (300000 ms)
[  PASSED  ] 1 test.
[  SKIPPED ] 1 test, listed below:
Test time =   1.00 sec
Test Passed.
END_OF_LOG

user_id=0
run() {
  rm -rf "$work/calls" "$root/build"
  touch "$work/calls"
  status=0
  env -u LOOKOUT_SOAK_MINUTES -u LOOKOUT_CACHE -u XDG_CACHE_HOME HOME="$work" WORK="$work" USER_ID=$user_id \
    PATH="$work/bin:$PATH" "$root/tests/run.sh" "$@" >"$work/out" 2>"$work/err" || status=$?
}

# expect WHAT TEST...
expect() {
  local what=$1
  shift
  "$@" || {
    echo "run_test.sh: $what (status $status):" >&2
    cat "$work/out" "$work/err" "$work/calls" >&2
    exit 1
  }
}
calls() { grep -vE '^(nproc|id) ' "$work/calls" | grep -E "$1" | tr '\n' '|' || true; }
stages() { sed -n 's/^Stages: \([^.]*\)[.].*/\1/p' "$work/out"; }

for option in --help -h; do
  run host $option
  expect "$option shows help" grep -q '^  run.sh --all' "$work/out"
  expect "$option lists stages" grep -qE '^  libcamera-trixie +70$' "$work/out"
  expect "$option does nothing else" test "$status$(calls .)" = 0
done
mkdir "$root/app"
cp "$source/../app/demo.sh" "$root/app/"
for option in --help -h; do
  rm -f "$work/calls"
  touch "$work/calls"
  WORK=$work PATH=$work/bin:$PATH "$root/app/demo.sh" "$option" >"$work/out" 2>"$work/err"
  expect "demo.sh $option shows help" grep -q '^  demo.sh ' "$work/out"
  expect "demo.sh $option does nothing else" test ! -s "$work/calls"
done
WORK=$work PATH=$work/bin:$PATH "$root/app/demo.sh" >"$work/out" 2>"$work/err" || true
expect 'demo.sh builds without tests' test "$(calls cmake)" = \
  'cmake --preset host -DBUILD_TESTING=OFF|cmake --build --preset host --target lookout|'
mkdir -p "$root/build/host"
touch "$root/build/host/build.ninja"
rm "$work/calls"
WORK=$work PATH=$work/bin:$PATH "$root/app/demo.sh" >"$work/out" 2>"$work/err" || true
expect 'demo.sh configures again, and leaves tests as they are' test "$(calls cmake)" = \
  'cmake --preset host|cmake --build --preset host --target lookout|'
for wrong in --everything hosts '' 'host models' @ '*'; do
  run host "$wrong"
  expect "'$wrong' is refused" test "$status$(calls .)" = 64
  expect "'$wrong' is named" grep -qF "'$wrong'" "$work/err"
done
user_id=1000
run --target
expect 'the emulated board needs root' test "$status$(calls .)" = 77
user_id=0

run
expect 'without arguments it tests this machine' test "$(stages)" = host
expect 'and installs and builds what that needs' test "$(calls .)" = \
  'install-deps.sh --test|cmake --preset host -DBUILD_TESTING=ON|cmake --build --preset host|ctest --preset host -j 2|'
expect 'it says how long it takes' grep -qE 'A first run takes about [0-9]+ minutes on 2 processors' "$work/out"
expect 'it says where it is' grep -qE '^== 1 of 1, host: tests \(0:0[0-9] of about [0-9]+ min\)$' "$work/out"
expect 'failures are named' grep -qx 'failed: host: Each/Some.Fault/1' "$work/out"
expect 'the last line counts' test "$status $(tail -n 1 "$work/out")" = '1 3 passed, 1 failed, 1 skipped'
expect 'the five slowest are shown' test "$(grep -A5 'longest' "$work/out" | sed 1d | tr '\n' '|')" = \
  '   700.0  host: Each/Some.Slow/0|   600.0  host: Each/Some.Fault/1|   500.2  host: toml_test|   400.0  host: Other.Test|   300.0  host: Other.Skipped|'

run tsan models
expect 'stages are run as they are named' test "$(stages)" = 'tsan models'
expect 'each list is installed once' test "$(calls install-deps)" = \
  'install-deps.sh --check|install-deps.sh --models|'

echo '[ "$*" != --mqtt ] && [ "$*" != --network ] || exit 77' >>"$root/deploy/install-deps.sh"
run network
expect 'what cannot be installed ends it' test "$status$(calls cmake)" = 77
run mqtt
expect 'but for what tests are skipped without' grep -q "tests that need 'mqtt'" "$work/err"
stand_in "$root/deploy/install-deps.sh"

run --all
expect '--all adds stages' test "$(stages)" = 'host models asan tsan style'
expect 'they are counted' test "$(tail -n 1 "$work/out")" = '22 passed, 3 failed, 4 skipped'
expect 'single files are checked' test "$(calls 'check_style|develop')" = \
  'cmake --preset develop -B build/alone -DLOOKOUT_JOINED=NONE -DBUILD_TESTING=ON|check_style.sh build/joined build/alone|'

run network --target
expect '--target adds stages' test "$(stages)" = 'host target soak network'
expect 'a soak alone is waited for' grep -qx 'the output of soak' "$work/out"

run --all --target
expect 'all are run' test "$(stages)" = 'host models target asan tsan soak style'
expect 'the soak is counted once' test "$(calls soak)" = 'soak.py --minutes 10|'
expect 'it is shown after the style' test \
  "$(grep -nE 'style: (units|the end)|^the output of soak' "$work/out" | cut -d : -f 2 | cut -c 1-20 | tr '\n' '|')" = \
  '== 7 of 7, style|== 7 of 7, style|the output of soak|'
expect 'what is next is built beside the virtual machine' test \
  "$(grep -nE 'asan: .* (build|tests) |asan: the service' "$work/out" | sed 's/.*: \([a-z ]*\) (.*/\1/' | tr '\n' '|')" = \
  'build|the service in the virtual machine|tests|'
expect 'each tree is built once' test "$(calls 'cmake --build' | tr '|' '\n' | sort | tr '\n' '|')" = \
  'cmake --build --preset asan --target tests_of_parts|cmake --build --preset host|cmake --build --preset host --target lookout|cmake --build --preset host --target lookout fake_camera|cmake --build --preset pi4|cmake --build --preset tsan --target tests_of_threads|'
expect 'the board is tested' test "$(calls 'target.sh|cpack|libcamera.sh' | tr '|' '\n' | sort | tr '\n' '|')" = \
  'check_libcamera.sh |cpack --preset pi4 -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip|target.sh models pi4|target.sh package pi4|target.sh service pi4|'

echo 'exit 1' >>"$root/tests/soak/soak.py"
echo 'case $* in *"--build --preset asan"*) echo "no such type"; exit 2 ;; esac' >>"$work/bin/cmake"
run --all
expect 'what does not compile is shown' grep -qx 'no such type' "$work/out"
expect 'and ends it' test "$status$(calls 'ctest.*(asan|tsan)')" = 2
stand_in "$work/bin/cmake"

run soak style
expect 'a soak that fails is a failure' grep -qx 'failed: tests/soak/soak.py --minutes 10 (exit status 1)' "$work/out"

echo 'import os, signal; os.kill(os.getppid(), signal.SIGTERM)' >"$root/tests/models/run.py"
run host models
expect 'a signal ends it' test "$status" = 143
expect 'where it was ended is told' grep -qx 'ended by a signal, in stage models' "$work/out"
expect 'what failed until then is told' grep -qx 'failed: host: Each/Some.Fault/1' "$work/out"
echo 'run.sh: stages, counts and times'
