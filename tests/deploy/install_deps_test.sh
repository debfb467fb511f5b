#!/bin/sh
# Tests of deploy/install-deps.sh with programs that stand in for apt, dpkg and what gets ONNX Runtime.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/deploy" "$work/toolchains"
cp "$(dirname "$0")/../../deploy/install-deps.sh" "$work/deploy/"
script=$work/deploy/install-deps.sh
printf '#!/bin/sh\n' >"$work/toolchains/get-onnxruntime.sh"
chmod +x "$work/toolchains/get-onnxruntime.sh"

# apt-get tells sizes when it is asked for them, finds a lock taken as often as the file "taken" says, and writes down its calls.
mkdir "$work/bin"
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
[ "$1" != --assume-no ] || {
  cat "$WORK/sizes"
  exit 1
}
taken=$(cat "$WORK/taken")
if [ "$taken" -gt 0 ]; then
  echo $((taken - 1)) >"$WORK/taken"
  echo "E: Could not get lock /var/lib/$1/lock. It is held by process 42 (apt)" >&2
  exit 100
fi
echo "$1" >>"$WORK/calls"
[ "$1" != install ] || [ ! -e "$WORK/broken" ] || {
  cat "$WORK/broken" >&2
  exit 100
}
[ "$1" != install ] || [ -e "$WORK/works" ] || {
  echo 'E: Unable to locate package' >&2
  exit 100
}
[ "$1" != update ] || cat "$WORK/taken-next" >"$WORK/taken"
END
printf '#!/bin/sh\ncat "$WORK/installed"\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\necho "dpkg $*" >>"$WORK/calls"\nrm -f "$WORK/broken"\n' >"$work/bin/dpkg"
printf '#!/bin/sh\necho "$1" >>"$WORK/sleeps"\n' >"$work/bin/sleep"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work"/bin/*

# install UPDATE INSTALL [OPTION...]: runs the script with locks that are taken so often at each of both.
install() {
  rm -f "$work/calls" "$work/sleeps"
  touch "$work/calls" "$work/sleeps"
  echo "$1" >"$work/taken"
  echo "$2" >"$work/taken-next"
  shift 2
  status=0
  WORK=$work PATH=$work/bin:$PATH sh "$script" "$@" >"$work/out" 2>"$work/err" || status=$?
}

# expect WHAT TEST...
expect() {
  what=$1
  shift
  "$@" || {
    echo "install_deps_test.sh: $what (status $status):" >&2
    cat "$work/out" "$work/err" >&2
    exit 1
  }
}
count() { grep -c "$1" "$2" || true; }

cat >"$work/sizes" <<'END'
Need to get 12.5 MB/345 MB of archives.
After this operation, 1540 MB of additional disk space will be used.
END
touch "$work/works" "$work/installed"
install 0 0
expect 'it installs' test "$status $(tr '\n' ' ' <"$work/calls")" = '0 update install '
expect 'without a lock it says nothing' test ! -s "$work/err"

expect 'it tells what it takes' \
  grep -qx 'The packages: 12 MB to download, 1540 MB on the disk, 2 min to unpack.' "$work/out"
expect 'and what is missing' grep -q '^Missing: .*libtorch-dev' "$work/out"

cat >"$work/sizes" <<'END'
Need to get 950 kB of archives.
After this operation, 4321 kB of additional disk space will be used.
END
echo 'not-installed cmake' >"$work/installed"
install 0 0
expect 'it tells little in MB, too' \
  grep -qx 'The packages: 1 MB to download, 4 MB on the disk, 1 min to unpack.' "$work/out"
expect 'a package that was removed is missing' grep -q '^Missing: .* cmake ' "$work/out"

echo 'installed cmake' >"$work/installed"
install 0 0
expect 'a package that is there is not missing' test "$(count '^Missing: .* cmake ' "$work/out")" = 0
sed -n "/^build='/,/'\$/p" "$script" | sed "s/^build=//; s/'//g" | tr -s ' ' '\n' |
  sed 's/^/installed /' >"$work/installed"
install 0 0
expect 'when nothing is missing it calls nothing' test "$status $(cat "$work/calls" "$work/out")" = '0 '
install 0 0 --root --mqtt
expect 'several lists are installed at once' grep -q '^Missing: .*mmdebstrap.* mosquitto ' "$work/out"
install 0 0 --network --mqtt
expect 'a package of two lists is named once' test "$(grep '^Missing:' "$work/out" | tr ' ' '\n' | sort | uniq -d)" = ''
install 0 0 --root --nonsense
expect 'a list that does not exist installs nothing' test "$status $(cat "$work/calls")" = '64 '
: >"$work/installed"

echo "E: dpkg was interrupted, you must manually run 'dpkg --configure -a'" >"$work/broken"
install 0 0
expect 'an installation that was interrupted is completed' \
  test "$status $(tr '\n' ' ' <"$work/calls")" = '0 update install dpkg --configure -a install install '

install 3 2
expect 'it waits for both locks' test "$status $(tr '\n' ' ' <"$work/calls")" = '0 update install '
expect 'it sleeps between its tries' test "$(count . "$work/sleeps")" = 5
expect 'it says once for each lock who is waited for' test \
  "$(count 'waiting for the lock .*process 42' "$work/err")" = 2

install 1000 0
expect 'it gives up at last' test "$status" = 100
expect 'and shows why' test "$(count '^E: Could not get lock' "$work/err")" = 1

rm "$work/works"
install 0 0
expect 'another failure is not waited for' test "$status $(count . "$work/sleeps")" = '100 0'
expect 'and is shown' test "$(count 'Unable to locate' "$work/err")" = 1
echo 'install-deps.sh: locks of others are waited for, what it takes is told'
