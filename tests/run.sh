#!/bin/bash
# The tests, from nothing: installs what is missing, builds, runs.
#
#   run.sh              builds and tests on this machine: host
#   run.sh --all        also models, under sanitizers, and style: models asan tsan style
#   run.sh --target     also on the emulated Raspberry Pi, and minutes under faults: target soak
#   run.sh STAGE...     these stages alone; after an option, also these
#   run.sh --help       shows this
#
# LOOKOUT_SOAK_MINUTES: how long soak takes, by default 10.
set -euo pipefail
cd "$(dirname "$0")/.."

# The stages, in the order in which options run them.
# What runs a stage besides its name; the minutes that it takes however many processors there are, and
# the minutes of processors that it shares among all; whether it needs root; what install-deps.sh is
# to install, where `?` marks what the tests are skipped without. The minutes are for a first run: they
# were measured on two processors.
soak_minutes=${LOOKOUT_SOAK_MINUTES:-10}
table="
host             default   1  20  -     test
models           --all     0   3  -     test models
target           --target  4  23  root  test target container?
asan             --all     1  22  -     check
tsan             --all     0   6  -     check
soak             --target  $soak_minutes  1  -     test mqtt?
style            --all     1  8  -     check
asan-program     -         1  20  -     check
target-engines   -        25   2  root  test target models
lint             -         0  30  -     check
analyzer         -         0  20  -     check
processors       -         5   0  -     processors
network          -         1   0  -     test network
predict          -         3   0  -     test network
mqtt             -         2   0  -     test mqtt?
ha               -         5   0  root  test mqtt? root?
fleet            -         4   0  -     test fleet?
container        -         4   0  root  container
fuzz             -         0  14  -     check models
page             -         2   0  -     test page?
target-trixie    -         9  24  root  test target container?
package          -        15  50  root  target
package-native   -         5  10  root  package
target-mqtt      -         5   0  root  target
target-train     -        30   0  root  target page?
camera           -        20   0  root  target
libcamera        -        20   0  root  target
libcamera-trixie -        70   0  root  target
mutants          -        30 500  root  test
host-trixie      -         5  60  root  root
host-arm64       -        60  80  root  target
"
declare -A groups=() alone=() shared=() rights=() lists=()
order=()
while read -r stage group minutes processors right list; do
  [ -n "$stage" ] || continue
  order+=("$stage")
  groups[$stage]=$group
  alone[$stage]=$minutes
  shared[$stage]=$processors
  rights[$stage]=$right
  lists[$stage]=$list
done <<<"$table"

# minutes STAGE...: how many they take here. The shorter one of soak and style costs nothing where both run.
minutes() {
  local stage
  for stage in "$@"; do
    echo "$stage ${alone[$stage]} ${shared[$stage]}"
  done | LC_ALL=C awk -v processors="$(nproc)" '
    { took[$1] = $2 + $3 / processors; sum += took[$1] }
    END {
      if (("soak" in took) && ("style" in took))
        sum -= took["soak"] < took["style"] ? took["soak"] : took["style"]
      printf "%.0f\n", sum < 1 ? 1 : sum
    }'
}

help() {
  local stage
  sed -n '2,/^set -euo/s/^# \{0,1\}//p' tests/run.sh
  printf '\nStages, and the minutes that a first one takes here:\n'
  for stage in "${order[@]}"; do
    printf '  %-18s%4d\n' "$stage" "$(minutes "$stage")"
  done
}

is_stage() {
  local stage
  for stage in "${order[@]}"; do
    [ "$stage" != "$1" ] || return 0
  done
  return 1
}

options=
named=()
for argument in "$@"; do
  case $argument in
  -h | --help)
    help
    exit
    ;;
  --all | --target) options+=" $argument " ;;
  *)
    is_stage "$argument" || {
      echo "run.sh: no option or stage '$argument'; --help lists them" >&2
      exit 64
    }
    named+=("$argument")
    ;;
  esac
done
stages=()
if [ -n "$options" ] || [ ${#named[@]} = 0 ]; then
  for stage in "${order[@]}"; do
    [[ " default $options" != *" ${groups[$stage]} "* ]] || stages+=("$stage")
  done
fi
already=" ${stages[*]} "
for stage in "${named[@]}"; do
  [[ $already == *" $stage "* ]] || stages+=("$stage")
done
for stage in "${stages[@]}"; do
  if [ "${rights[$stage]}" = root ] &&
    { [ "$(id -u)" != 0 ] || [ -z "${LOOKOUT_CACHE-}${XDG_CACHE_HOME-}${HOME-}" ]; }; then
    echo "run.sh: $stage has to be run as root, with HOME set: it makes a root, a sysroot, a namespace or a virtual machine" >&2
    exit 77
  fi
done

# shellcheck source=tests/counting.sh
. tests/counting.sh
at=0 # the number of the stage
declare -A started=() begun=() # of what runs beside the stages: its process, and when it began
# However this ends, what was seen until then is told.
conclude() {
  local group
  for group in "${started[@]}"; do
    kill -- "-$group" 2>/dev/null || true
  done
  if [ "$at" -gt 0 ]; then
    show_times
    [ ${#failures[@]} = 0 ] || printf 'failed: %s\n' "${failures[@]}"
    echo "$passed passed, $failed failed, $skipped skipped"
  fi
  rm -rf "$work"
}
trap conclude EXIT
trap 'printf "\nended by a signal, in stage %s\n" "${stage-}"; exit 143' TERM
total=$(minutes "${stages[@]}")

say() {
  printf '\n== %d of %d, %s: %s (%s of about %d min)\n' $at ${#stages[@]} "$stage" "$1" "$(clock $SECONDS)" "$total"
}

# All lists are installed before the first stage. `check` has `test`.
install_lists() {
  local stage list status all=' '
  for stage in "${stages[@]}"; do
    for list in ${lists[$stage]}; do
      [[ $all == *" $list "* ]] || all+="$list "
    done
  done
  [[ $all != *' check '* ]] || all=${all/ test / }
  for list in $all; do
    deploy/install-deps.sh "--${list%\?}" || {
      status=$?
      [[ $list == *\? ]] || exit $status
      echo "run.sh: tests that need '${list%\?}' of install-deps.sh are skipped" >&2
    }
  done
}

# The demo configures without tests.
configure() { cmake --preset "$@" -DBUILD_TESTING=ON >/dev/null; }

build() {
  configure "$1"
  cmake --build --preset "$@"
}

need_program() { [ -x build/host/app/lookout ] || build host --target lookout; }

# start NAME COMMAND...: runs it beside what follows, in a process group of its own.
start() {
  local name=$1
  shift
  begun[$name]=$(now)
  set -m
  "$@" >"$work/$name.log" 2>&1 </dev/null &
  set +m
  started[$name]=$!
}

# finish NAME: waits for what was started, shows its output, and returns its exit status.
finish() {
  local status=0
  tail -n +1 -s 0.2 -f --pid="${started[$1]}" "$work/$1.log"
  wait "${started[$1]}" || status=$?
  unset "started[$1]"
  return $status
}

# finish_check NAME COMMAND...: as `check`, of a command that was started.
finish_check() {
  local name=$1 status=0
  shift
  finish "$name" || status=$?
  judge $status $(($(stat -c %Y "$work/$name.log") * 1000 - begun[$name])) "$@"
}

# What stages build: a preset, and targets.
declare -A trees=(
  [host]=host
  [target]=pi4
  [target-trixie]=pi4-trixie
  [asan]='asan --target tests_of_parts'
  [tsan]='tsan --target tests_of_threads'
)

# build_tree STAGE: builds what the stage needs. A first sysroot takes minutes, of the network most.
build_tree() {
  local suite
  case $1 in
  target) suite=bookworm ;;
  target-trixie) suite=trixie ;;
  esac
  if [ -n "${suite-}" ]; then
    toolchains/make-sysroot.sh "$suite" || {
      echo 'run.sh: the sysroot is tried again' >&2
      toolchains/make-sysroot.sh "$suite"
    }
  fi
  # shellcheck disable=SC2086
  build ${trees[$1]}
}

# build_ahead STAGE [PROCESS]: the same at the lowest priority, when PROCESS has ended.
build_ahead() {
  renice -n 19 -p "$BASHPID" >/dev/null
  [ -z "${2-}" ] || tail -f --pid="$2" /dev/null
  build_tree "$1"
}

# Tests leave processors idle: what all but the first stage need is built beside them, one after another.
# Stages that were named may be in another order than that of the table, in which none changes what
# another one runs.
start_builds() {
  local stage before=
  [ ${#named[@]} = 0 ] || return 0
  for stage in "${stages[@]:1}"; do
    [ -n "${trees[$stage]-}" ] || continue
    # shellcheck disable=SC2086
    start "build-$stage" build_ahead "$stage" $before
    before=${started[build-$stage]}
  done
}

# finish_build: the stage needs what was built for it.
finish_build() {
  if [ -n "${started[build-$stage]-}" ]; then
    finish "build-$stage"
  else
    build_tree "$stage"
  fi
}

# The virtual machine and the emulated image keep one processor busy: where asan or tsan is next, those are
# compiled beside it.
service=(tests/target.sh service)
image=(nice tests/deploy/container_test.sh)
start_service() {
  service+=("$1")
  image+=("build/$1")
  start service "${service[@]}"
  start image "${image[@]}"
  case ${stages[at]-} in
  asan | tsan) echo 'This runs beside the builds of the next stages, after which its output is shown.' ;;
  *) finish_service ;;
  esac
}
finish_service() {
  [ -n "${started[service]-}" ] || return 0
  say 'the service in the virtual machine'
  finish_check service "${service[@]}"
  say 'the image of a container'
  finish_check image "${image[@]}"
}

# The soak keeps a processor half busy: it runs beside the stage style where that is the next one.
soak=(tests/soak/soak.py --minutes "$soak_minutes")
start_soak() {
  if [ "${stages[at]-}" != style ]; then
    check "${soak[@]}"
    return
  fi
  echo 'This runs beside the stage style, after which its output is shown.'
  start soak "${soak[@]}"
}
finish_soak() {
  say 'the end of soak'
  finish_check soak "${soak[@]}"
}

printf 'Stages: %s. A first run takes about %d minutes on %d processors, after what is missing is installed.\n' \
  "${stages[*]}" "$total" "$(nproc)"
install_lists
SECONDS=0
start_builds

for stage in "${stages[@]}"; do
  at=$((at + 1))
  begin_stage
  case $stage in
  host)
    say build
    finish_build
    say tests
    run_ctest host
    ;;
  asan)
    say 'AddressSanitizer and UndefinedBehaviorSanitizer: build'
    finish_build
    finish_service
    say 'AddressSanitizer and UndefinedBehaviorSanitizer: tests'
    run_ctest asan --label-exclude program
    ;;
  asan-program)
    say 'AddressSanitizer and UndefinedBehaviorSanitizer: build of the program'
    build asan
    say 'AddressSanitizer and UndefinedBehaviorSanitizer: tests that start it'
    run_ctest asan --label-regex program
    ;;
  tsan)
    say 'ThreadSanitizer: build of the pipeline'
    finish_build
    finish_service
    say 'ThreadSanitizer: tests'
    run_ctest tsan --label-regex threads
    ;;
  style)
    say 'units, layering, links, clang-format and clang-tidy'
    configure host -B build/joined -DLOOKOUT_JOINED_TIMES=3
    configure develop -B build/alone -DLOOKOUT_JOINED=NONE
    check tests/tools/check_service.sh deploy
    check tests/tools/check_layering.py .
    check tests/tools/check_size.py .
    check tests/run_test.sh
    check tests/deploy/install_deps_test.sh
    check tests/deploy/package_test.sh
    LOOKOUT_APT_ROOT=$(tests/deploy/apt_root.sh)
    export LOOKOUT_APT_ROOT
    check tests/deploy/apt_repository_test.sh
    check tests/deploy/release_test.sh
    check tests/deploy/libcamera_module_test.sh
    check tests/deploy/maintainer_scripts_test.sh
    check tests/deploy/sockets_test.sh
    check tests/tools/check_links.py .
    # The soak, which may run now, waits for events: it comes first.
    check nice tests/tools/check_style.sh build/joined build/alone
    ;;
  lint)
    say 'clang-tidy over the tests'
    configure host
    configure develop -B build/alone -DLOOKOUT_JOINED=NONE
    check tests/tools/check_style.sh build/host build/alone --tests
    ;;
  processors)
    say 'what computes, on other processors'
    check tests/processors.sh
    ;;
  analyzer)
    say 'static analyzer'
    configure host
    configure develop -B build/alone -DLOOKOUT_JOINED=NONE
    check tests/tools/check_style.sh build/host build/alone --analyzer
    ;;
  soak)
    say 'the program under faults'
    { [ -x build/host/app/lookout ] && [ -e build/host/tests/libfake_camera.so ]; } ||
      build host --target lookout fake_camera
    start_soak
    ;;
  fuzz)
    say 'damaged archives and pictures, and the readers of what others wrote under libFuzzer'
    need_program
    check tests/tools/mutated_archives.py
    check tests/tools/mutated_archives.py --archive models/onnx_format/selftest.onnx --count 100
    check tests/tools/damaged_pictures.py
    check tests/fuzz/fuzz.sh
    ;;
  network)
    say 'cameras of RTSP and HTTP, messages to web servers'
    need_program
    check /usr/bin/python3 tests/network/network_test.py
    check /usr/bin/python3 tests/network/proxy_test.py
    check /usr/bin/python3 tests/network/webhook_test.py
    ;;
  predict)
    say 'pictures over HTTP'
    need_program
    check /usr/bin/python3 tests/predict/predict_test.py
    check /usr/bin/python3 tests/predict/attacks_test.py
    check /usr/bin/python3 tests/predict/crowd_test.py
    check /usr/bin/python3 tests/predict/decoder_test.py
    check /usr/bin/python3 tests/predict/login_test.py
    check /usr/bin/python3 tests/predict/teach_test.py
    check /usr/bin/python3 tests/predict/bad_disk_test.py
    ;;
  mqtt)
    say 'a real broker'
    need_program
    check /usr/bin/python3 tests/mqtt/mqtt_test.py
    check /usr/bin/python3 tests/mqtt/owner_test.py
    check /usr/bin/python3 tests/mqtt/watches_test.py
    check /usr/bin/python3 tests/mqtt/taught_test.py
    ;;
  ha)
    say 'a real Home Assistant'
    need_program
    check /usr/bin/python3 tests/ha/ha_test.py
    check /usr/bin/python3 tests/ha/ha_taught_test.py
    ;;
  fleet)
    say 'rules and dashboard with Prometheus'
    need_program
    check /usr/bin/python3 tests/fleet/fleet_test.py
    check /usr/bin/python3 tests/fleet/rollout_test.py
    ;;
  package-native)
    say 'packages of this machine, and their installation in a root'
    check deploy/package.sh --native --no-base
    check deploy/release.sh install "$(. /etc/os-release && echo "$VERSION_CODENAME")" build/native/lookout*.deb
    # Those for the Pi are of the stage package or target; without them this is counted as skipped.
    check tests/deploy/same_contents.sh build/native build/pi4
    ;;
  container)
    say 'the image, by buildah'
    compgen -G 'build/native/lookout_*.deb' >/dev/null || check deploy/package.sh --native --no-base
    check tests/deploy/container_test.sh
    check /usr/bin/python3 tests/deploy/manifests_test.py
    ;;
  page)
    say "the HTTP server's page and the reports in Chromium"
    build host --target lookout fake_camera
    check tests/page/page_test.py
    check tests/page/form_test.py
    check tests/page/history_test.py
    check tests/page/changes_test.py
    check tests/page/teach_test.py
    check tests/page/taught_test.py
    check tests/page/language_test.py
    check tests/page/report_test.py
    ;;
  target | target-trixie)
    preset=pi4${stage#target}
    suite=bookworm
    [ "$stage" = target ] || suite=trixie
    say "Raspberry Pi 4, $suite: sysroot, build and packages"
    finish_build
    rm -f build/"$preset"/*.deb
    # Packed in less time than deploy/package.sh takes, and unpacked by an emulator in less.
    check cpack --preset "$preset" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip
    need_program
    check tests/vm/binfmt.sh aarch64
    say "Raspberry Pi 4, $suite: tests in the emulator"
    run_ctest "$preset"
    # Each of these keeps one processor busy.
    start models tests/target.sh models "$preset"
    [ "$suite" != bookworm ] || check tests/tools/check_libcamera.sh
    say "Raspberry Pi 4, $suite: packages"
    check tests/target.sh package "$preset"
    say "Raspberry Pi 4, $suite: models"
    finish_check models tests/target.sh models "$preset"
    say "Raspberry Pi 4, $suite: the service in a virtual machine, and the image of a container"
    start_service "$preset"
    ;;
  target-engines)
    say 'Raspberry Pi 4, bookworm: engines and models that come and go in a virtual machine'
    check tests/target.sh engines pi4
    check tests/target.sh trials pi4
    check tests/target.sh power pi4
    ;;
  package)
    say 'Raspberry Pi 4, bookworm: one command makes the package, and again the same'
    check deploy/package.sh bookworm --no-base
    check tests/target.sh repeated pi4
    ;;
  target-mqtt)
    say 'Raspberry Pi 4, bookworm: a broker on the same board, in a virtual machine'
    check tests/target.sh mqtt pi4
    ;;
  target-train)
    say 'Raspberry Pi 4, bookworm: classes taught in a virtual machine'
    check tests/target.sh train pi4
    check tests/target.sh teach pi4
    check tests/target.sh page pi4
    check tests/target.sh setup pi4
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
    run_trixie
    ;;
  host-arm64)
    say 'a Raspberry Pi, emulated: app/demo.sh with and without the memory for LibTorch, and packages of its own'
    # shellcheck disable=SC2016  # for the root
    small='sed "s/^\(Mem[A-Za-z]*\): .*/\1: 940000 kB/" /proc/meminfo >/tmp/meminfo; mount --bind /tmp/meminfo /proc/meminfo
      rm -rf /root/.cache/lookout/libtorch-aarch64;'
    for suite in trixie bookworm; do
      check tests/root.sh $suite arm64 app/demo.sh
      check tests/root.sh $suite arm64 "$small app/demo.sh"
    done
    check tests/root.sh trixie arm64 'deploy/package.sh --native --no-base'
    # Those that were cross-compiled are of the stage target-trixie; without them this is counted as skipped.
    native=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}/root-trixie-arm64/src/lookout/build/native
    check tests/deploy/same_contents.sh "$native" build/pi4-trixie
    ;;
  mutants)
    say 'do the tests notice faults in pipeline/ and platform/?'
    check tests/tools/mutants.py
    ;;
  models)
    say tests
    check /usr/bin/python3 tests/models/run.py
    ;;
  esac
  [ "$stage" = soak ] || [ -z "${started[soak]-}" ] || finish_soak
  end_stage "$stage"
done

[ "$failed" = 0 ]
