#!/bin/bash
# The tests, from nothing: installs what is missing, builds, runs.
#
#   run.sh            all stages on this machine: host models asan tsan style
#   run.sh --target   also soak, and the one on the emulated Raspberry Pi: target
#   run.sh STAGE...   some of the stages, which tests/README.md lists
#
# LOOKOUT_SOAK_MINUTES: how long soak takes, by default 10.
set -euo pipefail
cd "$(dirname "$0")/.."

# A checkout elsewhere finds what another one compiled.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=true

stages=("$@")
here=(host models asan tsan style)
[ $# -gt 0 ] || stages=("${here[@]}")
[ "${1-}" != --target ] || stages=("${here[@]}" soak target)
passed=0
failed=0
skipped=0
failures=() # for the end of the output, where they are looked for

say() { printf '\n== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)); }

# The demo configures without tests.
configure() { cmake --preset "$1" -DBUILD_TESTING=ON >/dev/null; }

build() {
  configure "$1"
  cmake --build --preset "$@"
}

# Runs a preset's test programs and counts their tests. A program that ends badly though none of its
# tests failed (it crashed, hung or leaked) counts as one.
run_ctest() {
  local log=build/$1/Testing/Temporary/LastTest.log ran bad skips
  rm -f "$log"
  ctest --preset "$@" -j "$(nproc)" | grep -vE '^ *Start |^\[ RUN  |^\[       OK|^\[---|^$' || true
  read -r ran bad skips < <(awk '
    /^[0-9]+\/[0-9]+ Testing: /   { told = 0 }
    /^\[  PASSED  \] [0-9]+ test/ { ran += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { bad += $4; told = 1 }
    /^\[  SKIPPED \] [0-9]+ test/ { skips += $4 }
    /^Test Failed|^Unable to find/ { bad += !told }
    END { print ran + 0, bad + 0, skips + 0 }' "$log")
  awk '/: Skipped$/ { at = $1; getline; print "skipped: " at " " $0 }' "$log"
  mapfile -t -O "${#failures[@]}" failures < <(awk -v preset="$1" '
    /^[0-9]+\/[0-9]+ Testing: /            { program = $3; told = 0 }
    /^\[  FAILED  \] [^ ]+\.[^ ]+ \([0-9]/ { print preset ": " $4; told = 1 }
    /^Test Failed|^Unable to find/        { if (!told) print preset ": " program " ended badly" }' "$log")
  printf '%s passed, %s failed, %s skipped\n' "$ran" "$bad" "$skips"
  passed=$((passed + ran))
  failed=$((failed + bad))
  skipped=$((skipped + skips))
}

# Runs tests/trixie.sh and adds the tests that it counts. It counts as a failed test itself when it ends
# badly without one.
run_trixie() {
  local log status=0 ran=0 bad=0 skips=0
  log=$(mktemp)
  tests/trixie.sh 2>&1 | tee "$log" || status=$?
  read -r ran bad skips < <(
    tail -n 1 "$log" | sed -n -E 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p'
  ) || true
  mapfile -t -O "${#failures[@]}" failures < <(sed -n 's/^failed: /Debian 13: /p' "$log")
  rm "$log"
  [ "$status" = 0 ] || [ "${bad:-0}" -gt 0 ] || bad=1
  passed=$((passed + ran))
  failed=$((failed + bad))
  skipped=$((skipped + skips))
}

# check COMMAND...: one more test, a whole command.
check() {
  local status=0
  "$@" || status=$?
  case $status in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *)
    failed=$((failed + 1))
    failures+=("$* (exit status $status)")
    ;;
  esac
}

for stage in "${stages[@]}"; do
  case $stage in
  target* | package | camera | libcamera* | ha | host-trixie | mutants)
    if [ "$(id -u)" != 0 ] || [ -z "${LOOKOUT_CACHE-}${XDG_CACHE_HOME-}${HOME-}" ]; then
      echo "run.sh: $stage has to be run as root, with HOME set: it makes a root, a sysroot, a namespace or a virtual machine" >&2
      exit 77
    fi
    ;;
  esac
done

say 'install what is missing'
deploy/install-deps.sh --test

for stage in "${stages[@]}"; do
  case $stage in
  host)
    say 'host: build'
    build host
    say 'host: tests'
    run_ctest host
    ;;
  asan)
    say 'AddressSanitizer and UndefinedBehaviorSanitizer: build'
    build asan
    say 'AddressSanitizer and UndefinedBehaviorSanitizer: tests'
    run_ctest asan
    ;;
  tsan)
    say 'ThreadSanitizer: build of the pipeline'
    build tsan --target tests_of_threads
    say 'ThreadSanitizer: tests'
    run_ctest tsan --label-regex threads
    ;;
  style)
    say 'units, layering, links, clang-format and clang-tidy'
    configure host
    check tests/tools/check_service.sh deploy
    check tests/tools/check_layering.py .
    check tests/tools/check_size.py .
    check tests/deploy/install_deps_test.sh
    check tests/deploy/package_test.sh
    check tests/deploy/libcamera_module_test.sh
    check tests/tools/check_links.py .
    check tests/tools/check_style.sh build/host
    ;;
  lint)
    say 'clang-tidy over the tests'
    configure host
    check tests/tools/check_style.sh build/host --tests
    ;;
  analyzer)
    say 'static analyzer'
    configure host
    check tests/tools/check_style.sh build/host --analyzer
    ;;
  soak)
    say 'soak: the program under faults'
    { [ -x build/host/app/lookout ] && [ -e build/host/tests/libfake_camera.so ]; } ||
      build host --target lookout fake_camera
    deploy/install-deps.sh --mqtt || echo 'run.sh: there is no mosquitto here' >&2
    check tests/soak/soak.py --minutes "${LOOKOUT_SOAK_MINUTES:-10}"
    ;;
  fuzz)
    say 'fuzz: damaged archives and pictures, and the readers of what others wrote under libFuzzer'
    [ -x build/host/app/lookout ] || build host --target lookout
    check tests/tools/mutated_archives.py
    check tests/tools/damaged_pictures.py
    check tests/fuzz/fuzz.sh
    ;;
  network)
    say 'network: cameras of RTSP and HTTP'
    deploy/install-deps.sh --network
    [ -x build/host/app/lookout ] || build host --target lookout
    check /usr/bin/python3 tests/network/network_test.py
    check /usr/bin/python3 tests/network/proxy_test.py
    ;;
  predict)
    say 'predict: pictures over HTTP'
    deploy/install-deps.sh --network
    [ -x build/host/app/lookout ] || build host --target lookout
    check /usr/bin/python3 tests/predict/predict_test.py
    check /usr/bin/python3 tests/predict/attacks_test.py
    check /usr/bin/python3 tests/predict/crowd_test.py
    ;;
  mqtt)
    say 'mqtt: a real broker'
    deploy/install-deps.sh --mqtt || echo 'run.sh: there is no mosquitto here' >&2
    [ -x build/host/app/lookout ] || build host --target lookout
    check /usr/bin/python3 tests/mqtt/mqtt_test.py
    ;;
  ha)
    say 'ha: a real Home Assistant'
    deploy/install-deps.sh --mqtt && deploy/install-deps.sh --root ||
      echo 'run.sh: there is no mosquitto or mmdebstrap here' >&2
    [ -x build/host/app/lookout ] || build host --target lookout
    check /usr/bin/python3 tests/ha/ha_test.py
    ;;
  fleet)
    say 'fleet: rules and dashboard with Prometheus'
    deploy/install-deps.sh --fleet || echo 'run.sh: there is no Prometheus here' >&2
    [ -x build/host/app/lookout ] || build host --target lookout
    check /usr/bin/python3 tests/fleet/fleet_test.py
    ;;
  page)
    say "page: the HTTP server's page and the reports in Chromium"
    deploy/install-deps.sh --page || echo 'run.sh: there is no Chromium here' >&2
    build host --target lookout fake_camera
    check tests/page/page_test.py
    check tests/page/form_test.py
    check tests/page/report_test.py
    ;;
  target | target-trixie)
    preset=pi4${stage#target}
    suite=bookworm
    [ "$stage" = target ] || suite=trixie
    say "Raspberry Pi 4, $suite: tools and sysroot"
    deploy/install-deps.sh --target
    toolchains/make-sysroot.sh $suite
    say "Raspberry Pi 4, $suite: build"
    build "$preset"
    [ -x build/host/app/lookout ] || build host --target lookout
    say "Raspberry Pi 4, $suite: tests in the emulator"
    run_ctest "$preset"
    check tests/target.sh models "$preset"
    [ "$suite" != bookworm ] || check tests/tools/check_libcamera.sh
    say "Raspberry Pi 4, $suite: package"
    rm -f build/"$preset"/*.deb
    check cpack --preset "$preset"
    check tests/target.sh package "$preset"
    say "Raspberry Pi 4, $suite: the service in a virtual machine"
    check tests/target.sh service "$preset"
    ;;
  package)
    say 'Raspberry Pi 4, bookworm: one command makes the package, and again the same'
    check deploy/package.sh bookworm
    check tests/target.sh repeated pi4
    ;;
  target-mqtt)
    say 'Raspberry Pi 4, bookworm: a broker on the same board, in a virtual machine'
    check tests/target.sh mqtt pi4
    ;;
  target-train)
    say 'Raspberry Pi 4, bookworm: classes taught in a virtual machine'
    check tests/target.sh train pi4
    ;;
  camera)
    say 'Raspberry Pi 4, bookworm: a camera that comes and goes in a virtual machine'
    check tests/target.sh camera pi4
    ;;
  libcamera | libcamera-trixie)
    say "Raspberry Pi 4, ${stage#libcamera-}: cameras of libcamera's in a virtual machine"
    check tests/target.sh libcamera "pi4${stage#libcamera}"
    if [ "$stage" = libcamera-trixie ]; then
      check tests/target.sh libcamera pi4-trixie backports
      check tests/target.sh upgrade pi4-trixie
    fi
    ;;
  host-trixie)
    say 'Debian 13: app/demo.sh and tests/run.sh'
    deploy/install-deps.sh --root
    run_trixie
    ;;
  mutants)
    say 'mutants: do the tests notice faults in pipeline/ and platform/?'
    check tests/tools/mutants.py
    ;;
  models)
    say 'models: tests'
    check /usr/bin/python3 tests/models/run.py
    ;;
  *)
    echo "run.sh: no stage $stage" >&2
    exit 64
    ;;
  esac
done

say 'done'
[ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
