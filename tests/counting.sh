# shellcheck shell=bash
# For run.sh: counts tests and their times.

passed=0
failed=0
skipped=0
failures=() # for the end of the output, where they are looked for
work=$(mktemp -d)
: >"$work/tests"  # lines: ms, name
: >"$work/stages" # lines: name, ms, ms of processors

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }
now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); } # in ms

add() {
  passed=$((passed + $1))
  failed=$((failed + $2))
  skipped=$((skipped + $3))
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
    /^[0-9]+\/[0-9]+ Testing: / { program = $3; told = 0 }
    /^\[  FAILED  \] [^ ]+\.[^ ]+.* \([0-9]+ ms\)$/ { sub(",$", "", $4); print preset ": " $4; told = 1 }
    /^Test Failed|^Unable to find/ { if (!told) print preset ": " program " ended badly" }' "$log")
  # A program without tests of its own is one itself.
  LC_ALL=C awk -v preset="$1" '
    /^[0-9]+\/[0-9]+ Testing: / { program = $3; told = 0 }
    /^\[ .* \] [^ ]+\.[^ ]+.* \([0-9]+ ms\)$/ {
      sub(",$", "", $4)
      print substr($(NF - 1), 2), preset ": " $4
      told = 1
    }
    /^Test time =/ && !told { printf "%d %s: %s\n", $4 * 1000, preset, program }' "$log" >>"$work/tests"
  printf '%s passed, %s failed, %s skipped\n' "$ran" "$bad" "$skips"
  add "$ran" "$bad" "$skips"
}

# Runs tests/run.sh on Debian 13 and adds the tests that it counts. It counts as a failed test itself when it ends
# badly without one.
run_trixie() {
  local log status=0 ran=0 bad=0 skips=0
  log=$(mktemp)
  tests/root.sh trixie amd64 'app/demo.sh; tests/run.sh --all' 2>&1 | tee "$log" || status=$?
  read -r ran bad skips < <(
    tail -n 1 "$log" | sed -n -E 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p'
  ) || true
  mapfile -t -O "${#failures[@]}" failures < <(sed -n 's/^failed: /Debian 13: /p' "$log")
  rm "$log"
  [ "$status" = 0 ] || [ "${bad:-0}" -gt 0 ] || bad=1
  add "$ran" "$bad" "$skips"
}

# judge STATUS MS COMMAND...: one more test, a whole command that ended with this exit status.
judge() {
  local status=$1 took=$2
  shift 2
  case $status in
  0) add 1 0 0 ;;
  77) add 0 0 1 ;;
  *)
    add 0 1 0
    failures+=("$* (exit status $status)")
    ;;
  esac
  echo "$took $*" >>"$work/tests"
}

# check COMMAND...: runs one more test.
check() {
  local status=0 begin
  begin=$(now)
  "$@" || status=$?
  judge $status $(($(now) - begin)) "$@"
}

# Sets cpu_ms to the processors' time of what has ended so far.
measure_cpu() {
  times >"$work/cpu" # in this shell: another one has no children yet
  cpu_ms=$(LC_ALL=C awk -F '[ms ]+' 'NR == 2 {
    gsub(",", ".")
    printf "%d\n", ($1 + $3) * 60000 + ($2 + $4) * 1000
  }' "$work/cpu")
}

# begin_stage, end_stage NAME: how long a stage took.
begin_stage() {
  stage_begin=$(now)
  measure_cpu
  stage_cpu_ms=$cpu_ms
}
end_stage() {
  measure_cpu
  echo "$1 $(($(now) - stage_begin)) $((cpu_ms - stage_cpu_ms))" >>"$work/stages"
}

show_times() {
  local name took took_cpu
  printf '\n== times: minutes, and minutes of processors\n'
  while read -r name took took_cpu; do
    printf '%8s %8s  %s\n' "$(clock $((took / 1000)))" "$(clock $((took_cpu / 1000)))" "$name"
  done <"$work/stages"
  printf '== the five tests that took longest: seconds\n'
  sort -rn "$work/tests" | sed -n 1,5p | while read -r took name; do
    printf '%6d.%d  %s\n' $((took / 1000)) $((took / 100 % 10)) "$name"
  done
}
