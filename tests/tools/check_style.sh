#!/bin/sh
# clang-format over everything of ours, and clang-tidy.
#
#   check_style.sh JOINED ALONE               two configured build folders: in JOINED files are compiled together
#   check_style.sh JOINED ALONE --tests       instead: clang-tidy over the tests
#   check_style.sh JOINED ALONE --analyzer    instead: clang's static analyzer over the program
#
# Joined files take a third of the time, and less the more of them are joined (LOOKOUT_JOINED_TIMES). What is
# only found in a file that is compiled alone is looked for there: names that nothing uses, and in LibTorch's
# files, which are joined in every build, includes that are missing.
#
# Exit status 77 (skipped) with other tools than Debian 12's, whose format and checks these are.
set -eu
joined=$(realpath "$1")
alone=$(realpath "$2")
cd "$(dirname "$0")/../.."

version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
if [ "$version" != 14 ]; then
  echo "skipped: the format and the checks are those of clang 14; this is clang $version"
  exit 77
fi

# tidy BUILD OPTIONS... FILES: the files of BUILD whose names match FILES, a regular expression.
tidy() {
  build=$1
  shift
  log=$(mktemp)
  if ! run-clang-tidy -quiet -p "$build" "$@" >"$log" 2>&1; then
    grep -E 'error:|warning:' "$log" | sort -u
    rm -f "$log"
    exit 1
  fi
  count=$(grep -c '^clang-tidy' "$log") || {
    echo "check_style.sh: nothing of that is built in $build: there was nothing to look at" >&2
    exit 1
  }
  rm -f "$log"
  echo "clang-tidy: $count files are clean"
}

case ${3-} in
--tests)
  tidy "$alone" "$PWD/tests/"
  exit
  ;;
--analyzer)
  tidy "$alone" -checks='-*,clang-analyzer-*' "$PWD/(app|pipeline|platform)/"
  exit
  ;;
esac
find app models pipeline platform tests -name '*.h' -o -name '*.cpp' | xargs clang-format --dry-run -Werror
echo 'clang-format: clean'
tidy "$joined" -checks=-bugprone-suspicious-include "($PWD|$joined)/(app|pipeline|platform)/"
users=$(grep -rlE '^ *(using [a-z_:]+::[A-Za-z_]+|namespace [a-z_]+ = .*);' --include='*.cpp' app pipeline platform)
# shellcheck disable=SC2086
tidy "$alone" -checks='-*,misc-unused-alias-decls,misc-unused-using-decls' \
  "$PWD/($(echo pipeline/torch/*.cpp $users | tr ' ' '|'))$"
