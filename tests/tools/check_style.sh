#!/bin/sh
# clang-format over everything of ours, and clang-tidy.
#
#   check_style.sh BUILD               BUILD: a configured build folder with compile_commands.json
#   check_style.sh BUILD --tests       instead: clang-tidy over the tests
#   check_style.sh BUILD --analyzer    instead: clang's static analyzer over the program
#
# Exit status 77 (skipped) with other tools than Debian 12's, whose format and checks these are.
set -eu
build=$(realpath "$1")
cd "$(dirname "$0")/../.."

version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
if [ "$version" != 14 ]; then
  echo "skipped: the format and the checks are those of clang 14; this is clang $version"
  exit 77
fi

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
  for folder in $(echo "$folders" | tr '|' ' '); do
    grep -qF " $PWD/$folder/" "$log" || {
      echo "check_style.sh: nothing of $folder/ is built in $build: there was nothing to look at" >&2
      exit 1
    }
  done
}

case ${2-} in
--tests)
  tidy tests
  echo 'clang-tidy: tests: clean'
  exit
  ;;
--analyzer)
  tidy 'app|pipeline|platform' -checks='-*,clang-analyzer-*'
  echo 'static analyzer: clean'
  exit
  ;;
esac
find app models pipeline platform tests -name '*.h' -o -name '*.cpp' | xargs clang-format --dry-run -Werror
echo 'clang-format: clean'
tidy 'app|pipeline|platform'
echo 'clang-tidy: clean'
