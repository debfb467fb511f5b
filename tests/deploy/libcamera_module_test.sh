#!/bin/sh
# Tests of deploy/libcamera-module.sh, which makes a module on the Pi, with a compiler that stands in.
set -eu
source=$(realpath "$(dirname "$0")/../../deploy/libcamera-module.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
libraries=$root/usr/lib/aarch64-linux-gnu
modules=$root/usr/lib/lookout/libcamera
script=$work/libcamera-module.sh
sed "s,/usr/,$root/usr/,g" "$source" >"$script"

# The compiler writes the standard that it is given, unless it refuses that, or fails with what stands in
# `error`.
mkdir "$work/bin"
cat >"$work/bin/g++" <<'END'
#!/bin/sh
if [ -e "$WORK/error" ]; then
  cat "$WORK/error" >&2
  exit 1
fi
if [ -e "$WORK/killed" ]; then
  rm "$WORK/killed"
  kill -KILL $PPID
  exit
fi
standard=${1#-std=}
[ "$standard" != "$(cat "$WORK/refused")" ] || exit 1
while [ "$1" != -o ]; do shift; done
echo "$standard" >"$2"
END
cat >"$work/bin/pkg-config" <<END
#!/bin/sh
[ "\$1" != --variable=libdir ] || echo "$libraries"
[ -e "$libraries/libcamera.so" ]
END
chmod +x "$work"/bin/*

# with_libcamera VERSION...: a system with these, and the headers of the first.
with_libcamera() {
  rm -rf "$root" "$work/error"
  echo none >"$work/refused"
  mkdir -p "$libraries" "$modules"
  for version; do touch "$libraries/libcamera.so.$version"; done
  ln -s "libcamera.so.$1" "$libraries/libcamera.so"
}

# make_module: runs the script.
make_module() {
  status=0
  WORK="$work" PATH="$work/bin:$PATH" sh "$script" >"$work/out" 2>&1 || status=$?
}

# expect WHAT TEST...
expect() {
  what=$1
  shift
  "$@" || {
    echo "libcamera_module_test.sh: $what (status $status):" >&2
    cat "$work/out" >&2
    ls -R "$root" >&2
    exit 1
  }
}
said() { # said REGEX: in one line, and the installation goes on
  [ "$status" = 0 ] && [ "$(wc -l <"$work/out")" = 1 ] && grep -qE "$1" "$work/out"
}
silent() { [ "$status" = 0 ] && [ ! -s "$work/out" ]; }

with_libcamera 0.8
make_module
expect 'a module is made, and told' said '^lookout: made a module for libcamera 0.8$'
expect 'it is there' test "$(cat "$modules/built.so")" = c++17
expect 'nothing else is' test "$(ls "$modules")" = built.so
echo c++17 >"$work/refused"
make_module
expect 'a libcamera that needs C++20 gets that' test "$(cat "$modules/built.so")" = c++20

printf 'In file included from\nmodule.cpp:1:2: error: out of luck\nmore\n' >"$work/error"
make_module
expect 'of a compiler that fails it says why' said \
  '^lookout: no module could be made for libcamera 0.8, .*: module.cpp:1:2: error: out of luck$'
expect 'the old module stays' test "$(cat "$modules/built.so")" = c++20
expect 'a failure leaves nothing' test "$(ls "$modules")" = built.so
echo 'g++: killed' >"$work/error"
make_module
expect 'a compiler that names no error is quoted, too' said ': g\+\+: killed$'

rm "$work/error"
touch "$work/killed"
make_module
expect 'a run that is killed leaves a file' test "$(find "$modules" -name '*.new' | wc -l)" = 1
make_module
expect 'which the next one removes' test "$(ls "$modules")" = built.so

touch "$modules/0.8.so"
make_module
expect 'with a module of the package there is nothing to do' silent
expect 'and the one made here goes' test "$(ls "$modules")" = 0.8.so

with_libcamera 0.8
rm "$libraries/libcamera.so"
make_module
expect 'without headers it says what to install' said 'sudo apt install libcamera-dev g\+\+ pkg-config makes one$'

with_libcamera 0.8 0.10
make_module
expect 'headers of an older libcamera do not help' said '^lookout: libcamera 0.10 is installed, .*makes one$'
mkdir -p "$libraries/libcamera/ipa"
echo libcamera.so.0.8 >"$libraries/libcamera/ipa/ipa_rpi_vc4.so"
make_module
expect 'of several the one with IPA modules is used' said '^lookout: made a module for libcamera 0.8$'

rm "$libraries"/libcamera.so* "$modules/built.so"
make_module
expect 'without libcamera there is nothing to do' silent
echo 'libcamera-module.sh: a module made, kept, removed, and what it says'
