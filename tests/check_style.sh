#!/bin/sh
# clang-format and clang-tidy over everything of ours.
#
#   check_style.sh BUILD               BUILD: a configured build folder with compile_commands.json
#   check_style.sh BUILD --analyzer    clang's static analyzer, without the tests
set -eu
build=$(realpath "$1")
cd "$(dirname "$0")/.."

# tidy FOLDERS OPTIONS...
tidy() {
  folders=$1
  shift
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  if ! run-clang-tidy -quiet -p "$build" "$@" "$PWD/($folders)/" >"$log" 2>&1; then
    grep -E 'error:|warning:' "$log" | sort -u
    exit 1
  fi
}

if [ "${2-}" = --analyzer ]; then
  tidy 'app|pipeline|platform' -checks='-*,clang-analyzer-*'
  echo 'static analyzer: clean'
  exit
fi
find app pipeline platform tests -name '*.h' -o -name '*.cpp' | xargs clang-format --dry-run -Werror
echo 'clang-format: clean'
tidy 'app|pipeline|platform|tests'
echo 'clang-tidy: clean'
