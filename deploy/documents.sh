#!/bin/sh
# Makes the package's documents from the program's --help and tables of the pages in app/.
#
#   documents.sh DIR LICENSES ONNXRUNTIME PROGRAM...
#
# DIR          has the changelog; documents are written there
# LICENSES     LibTorch's own and those of its parts
# ONNXRUNTIME  the folder of get-onnxruntime.sh
# PROGRAM      the program, behind the emulator's command
set -eu
export LC_ALL=C.UTF-8  # the order of files, the names of months
here=$(dirname "$0")
dir=$1
licenses=$2
onnxruntime=$3
shift 3

"$@" help > "$dir/help-top"
"$@" help run | sed '/^Example:/,/^$/d' > "$dir/help" # help2man would join its lines
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z-]\{1,\}\) .*/\1/p' "$dir/help-top" | grep -vx run | tr '\n' ' ')
settings=$(sed -n '/^Keys without a flag/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p' "$dir/help")
# table PAGE HEADING: the rows of the table under this heading of app/PAGE, as a list of the manual.
table() {
  awk -F ' *[|] *' -v heading="$2" '
    /^#/ { inside = $0 == heading; row = 0 }
    inside && /^[|]/ && ++row > 2 { print ".TP\n" $2 "\n" $3 (NF > 4 ? ": " $4 : "") }' "$here/../app/$1" |
    sed 's/\\/\\e/g; s/-/\\-/g; s/\[\([^]]*\)\]([^)]*)/\1/g; s/`\([^`]*\)`/\\fB\1\\fR/g'
}
{
  printf '[OUTPUT]\n'
  echo 'Text is a line a frame: its number, file or pattern if there is one, and predictions, best first.'
  echo 'JSON is an object a line, with "schema":1 and a type:'
  table output.md '## JSON lines'
  printf '[EXIT STATUS]\n'
  table README.md '## Exit status'
  cat "$here/lookout.h2m"
} > "$dir/sections"
# page HEADING FILE: a page of help as a section of the manual.
page() {
  printf '[%s]\n.nf\n' "$1"
  sed 's/\\/\\\\/g; s/-/\\-/g; s/^[.'"'"']/\\\&&/' "$2"
  printf '.fi\n'
}
# A command that takes the options of run needs no page beside that of run.
{
  page COMMANDS "$dir/help-top"
  for command in $commands; do
    "$@" help "$command" > "$dir/help-$command"
    grep -q '^Keys without a flag' "$dir/help-$command" || page "lookout $command" "$dir/help-$command"
  done
  "$@" help mqtt forget > "$dir/help-mqtt-forget"
  for command in install back list; do
    "$@" help model "$command" > "$dir/help-model-$command"
  done
  for section in $settings; do
    case $section in mqtt | model) continue ;; esac # commands, too
    "$@" help "$section" > "$dir/help-$section"
    page "keys of $section" "$dir/help-$section"
  done
} >> "$dir/sections"
"$@" --version > "$dir/version"
cat > "$dir/lookout" <<END
#!/bin/sh
case \$1 in --version) exec cat '$dir/version' ;; *) exec cat '$dir/help' ;; esac
END
chmod +x "$dir/lookout"
help2man --no-info --section 1 --include "$dir/sections" \
  --name 'classify what a camera sees' "$dir/lookout" |
  gzip -9n > "$dir/lookout.1.gz"

words=$(grep -ohE '(^ *|, )--?[a-z][a-z0-9-]*' "$dir"/help* | tr -d ', ' | sort -u | tr '\n' ' ')
cat > "$dir/lookout.bash" <<END
# bash completion for lookout, made from its --help.
_lookout() {
  local word=\${COMP_WORDS[COMP_CWORD]} words=
  [[ \$COMP_CWORD != 1 ]] || words='run $commands'
  [[ \$word != -* ]] || words='$words'
  mapfile -t COMPREPLY < <(compgen -W "\$words" -- "\$word")
}
complete -o default -F _lookout lookout
END

gzip -9nc "$dir/changelog" > "$dir/changelog.gz"
cat "$licenses"/* | gzip -9n > "$dir/libtorch-notices.gz"
gzip -9nc "$onnxruntime/ThirdPartyNotices.txt" > "$dir/ThirdPartyNotices.txt.gz"
