#!/bin/bash
# Lists the tests of a build, or shows what two lists do not have in common.
#
#   list_tests.sh BUILD      a line for each test: of the programs in BUILD/tests PROGRAM Suite.Name, of
#                            ctest its name, of the checkout's Python tests the file and the name
#   list_tests.sh OLD NEW    two such lists: "-" before what only OLD has, "+" before what only NEW has;
#                            exit status 1 when OLD has a test that NEW lacks
set -euo pipefail

list() {
  local program source
  for program in "$1"/tests/*_tests; do
    "$program" --gtest_list_tests | awk -v program="${program##*/}" '
      /^[^ ]+\.( |$)/ { suite = $1 }
      /^  /           { print program, suite $1 }'
  done
  ctest --test-dir "$1" --show-only | sed -n 's/^ *Test *#[0-9]*: /ctest /p'
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$1/CMakeCache.txt")
  (cd "$source" && grep -rn --include='*_test.py' -oE 'def test_\w+' tests | sed 's/:[0-9]*:def / /')
}

case $# in
1) list "$1" | LC_ALL=C sort ;;
2)
  lost=$(LC_ALL=C comm -23 "$1" "$2" | sed 's/^/- /')
  added=$(LC_ALL=C comm -13 "$1" "$2" | sed 's/^/+ /')
  printf '%s' "${lost:+$lost$'\n'}${added:+$added$'\n'}"
  echo "$(wc -l <"$1") tests before, $(wc -l <"$2") now"
  [ -z "$lost" ]
  ;;
*)
  sed -n '2,/^set -euo/s/^# \{0,1\}//p' "$0"
  exit 64
  ;;
esac
