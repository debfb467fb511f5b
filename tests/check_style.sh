#!/bin/sh
# clang-format and clang-tidy over everything of ours.
#
#   check_style.sh BUILD    BUILD: a configured build folder with compile_commands.json
set -eu
build=$(realpath "$1")
cd "$(dirname "$0")/.."

find app pipeline platform tests -name '*.h' -o -name '*.cpp' | xargs clang-format --dry-run -Werror
echo "clang-format: clean"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! run-clang-tidy -quiet -p "$build" "$PWD/(app|pipeline|platform|tests)/" >"$log" 2>&1; then
  grep -E 'error:|warning:' "$log" | sort -u
  exit 1
fi
echo "clang-tidy: clean"
