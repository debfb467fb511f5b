#!/bin/sh
# Tests of deploy/package.sh with programs that stand in for those that it runs.
# shellcheck disable=SC2016  # texts of other scripts
set -eu
source=$(realpath "$(dirname "$0")/../../deploy/package.sh")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/checkout

# Each writes down its call and the date that it is given.
mkdir -p "$work/bin" "$root/deploy/debian" "$root/toolchains"
cat >"$work/bin/cmake" <<'END'
#!/bin/sh
echo "${0##*/} $* ${SOURCE_DATE_EPOCH-}" >>"$WORK/calls"
END
cp "$work/bin/cmake" "$root/deploy/install-deps.sh"
cp "$work/bin/cmake" "$root/toolchains/make-sysroot.sh"
cp "$work/bin/cmake" "$root/toolchains/make-package-root.sh"
cp "$work/bin/cmake" "$root/deploy/base.sh"
echo 'exit "${BASE_STATUS-0}"' >>"$root/deploy/base.sh"
cp "$work/bin/cmake" "$work/bin/cpack"
cat >>"$work/bin/cpack" <<'END'
for package in lookout lookout-torch lookout-onnxruntime; do
  [ "$package" != lookout-torch ] || [ -z "${ONNX_ALONE-}" ] || continue
  echo "$package $2" >"build/$2/${package}_0.2_$([ "$2" = native ] && dpkg || echo arm64).deb"
done
[ ! -s "$WORK/base" ] || echo base >"build/$2/lookout-base_0.2_all.deb"
END
cat >>"$work/bin/cmake" <<'END'
case $1 in
--preset)
  mkdir -p "build/$2"
  [ "$2" != native ] || sysroot=
  echo "set(CPACK_LOOKOUT_SYSROOT \"${sysroot-$WORK}\")" >"build/$2/CPackConfig.cmake"
  echo "${3#-DLOOKOUT_BASE=}" | grep . >"$WORK/base" || :
  cat "$WORK/base" >>"build/$2/CPackConfig.cmake"
  ;;
--install) cp "$WORK/program" "$DESTDIR" ;;
esac
END
touch "$work/shlibs" "$root/deploy/depends.cmake" "$root/deploy/debian/postinst"
echo 1 >"$work/program"
printf '#!/bin/sh\necho 1700000000\n' >"$work/bin/git"
printf '#!/bin/sh\necho "$USER_ID"\n' >"$work/bin/id"
printf '#!/bin/sh\necho "${ARCHITECTURE-amd64}"\n' >"$work/bin/dpkg"
printf '#!/bin/sh\necho "sudo $*" >>"$WORK/calls"\nUSER_ID=0 exec env "$@"\n' >"$work/bin/sudo"
echo '[ "$(id -u)" = 0 ]' >>"$root/toolchains/make-sysroot.sh"  # as if it had to be made
user_id=0
chmod +x "$work"/bin/* "$root"/*/*.sh
printf 'ID=debian\nVERSION_ID="12"\n' >"$work/os-release"
sed "s,/etc/os-release,$work/os-release," "$source" >"$root/deploy/package.sh"

# package ARGUMENTS...: runs the script.
package() {
  rm -f "$work/calls"
  touch "$work/calls"
  status=0
  env -u SOURCE_DATE_EPOCH -u LOOKOUT_CACHE -u XDG_CACHE_HOME USER_ID=$user_id WORK="$work" HOME="$work" \
    PATH="$work/bin:$PATH" sh "$root/deploy/package.sh" "$@" >"$work/out" 2>"$work/err" || status=$?
}

# expect WHAT TEST...
expect() {
  what=$1
  shift
  "$@" || {
    echo "package_test.sh: $what (status $status):" >&2
    cat "$work/calls" "$work/out" "$work/err" >&2
    exit 1
  }
}
lines() { wc -l <"$1"; }

package --no-base
expect 'it works without lookout-base' test "$status" = 0
cat >"$work/expected" <<'END'
install-deps.sh --target 
make-sysroot.sh trixie 1700000000
cmake --preset pi4-trixie -DLOOKOUT_BASE= 1700000000
cmake --build --preset pi4-trixie 1700000000
cmake --install build/pi4-trixie 1700000000
cpack --preset pi4-trixie 1700000000
END
expect 'it does everything, for trixie, with the date of the commit' cmp "$work/expected" "$work/calls"
expect 'it says what the first sysroot takes' grep -q "once, .* 1.6 GB in $work/.cache/lookout" "$work/out"
for package in lookout lookout-torch lookout-onnxruntime; do
  deb=build/pi4-trixie/${package}_0.2_arm64.deb
  expect "it prints the hash and the path of $package" \
    grep -qxF "$(sha256sum <"$root/$deb" | cut -d ' ' -f 1)  $deb" "$work/out"
done
tail -n 3 "$work/out" | sed 's/^ *//' >"$work/next"
cat >"$work/expected" <<'END'
scp build/pi4-trixie/lookout_0.2_arm64.deb build/pi4-trixie/lookout-torch_0.2_arm64.deb USER@raspberrypi.local:
sudo apt install ./lookout_0.2_arm64.deb ./lookout-torch_0.2_arm64.deb
lookout
END
expect 'it ends with three commands' cmp "$work/expected" "$work/next"

# packs COUNT WHAT: the last call of package() packed so many times, and the packages are printed.
packs() {
  expect "$2" test "$status $(grep -c '^cpack' "$work/calls") $(lines "$work/out")" = "0 $1 $(lines "$work/first")"
}
cp "$work/out" "$work/first"
package --no-base
packs 0 'without changes it packs nothing'
expect 'and prints the same' cmp "$work/first" "$work/out"
echo 2 >"$work/program"
package --no-base
packs 1 'a changed program is packed'
echo 2 >"$root/deploy/debian/postinst"
package --no-base
packs 1 'so is a changed script of the packages'
rm "$root/build/pi4-trixie/lookout-torch_0.2_arm64.deb"
package --no-base
packs 1 'a package that is missing is made again'
echo 3 >"$root/build/pi4-trixie/lookout_0.2_arm64.deb"
package --no-base
packs 1 'so is one that is another'
printf '#!/bin/sh\necho 1800000000\n' >"$work/bin/git"
package --no-base
packs 1 'another date makes other packages'
package --no-base
packs 0 'once'

mkdir -p "$root/build/pi4"
touch "$root/build/pi4/lookout_0.1_arm64.deb" "$root/build/pi4/lookout-torch_0.1_arm64.deb"
package bookworm --no-base
expect 'it makes the package of the other release' grep -qx 'cpack --preset pi4 1800000000' "$work/calls"
expect 'older packages do not stay' test "$(echo "$root"/build/pi4/*_0.1_*)" = "$root/build/pi4/*_0.1_*"

user_id=1000
package --no-base
expect 'without root it works, too' test "$status" = 0
expect 'sudo makes the folder of the user' \
  grep -qx "sudo LOOKOUT_CACHE=$work/.cache/lookout toolchains/make-sysroot.sh trixie" "$work/calls"
expect 'which is there' test -d "$work/.cache/lookout"
sed -i '$d' "$root/toolchains/make-sysroot.sh"  # it is up to date
package --no-base
expect 'an up-to-date folder needs no sudo' test "$status $(grep -c sudo "$work/calls")" = '0 0'
user_id=0

package
expect 'it works without an argument' test "$status" = 0
sed -n 2p "$work/calls" >"$work/second"
expect 'it makes the base' grep -qx "base.sh $root/build/base " "$work/second"
expect 'which is packed' grep -qx "cmake --preset pi4-trixie -DLOOKOUT_BASE=$root/build/base 1800000000" "$work/calls"
expect 'its hash is printed' grep -q '^[0-9a-f]\{64\}  build/pi4-trixie/lookout-base_0.2_all.deb$' "$work/out"
expect 'it is copied' grep -q '^ *scp .*/lookout-base_0.2_all.deb USER@' "$work/out"
expect 'it is installed' grep -qx ' *sudo apt install .* ./lookout-base_0.2_all.deb' "$work/out"
(
  cd "$work"
  package --weights my.pth bookworm
  expect 'the weights may be named, as seen from where it is called' \
    grep -qx "base.sh --weights $work/my.pth $root/build/base " "$work/calls"
)
BASE_STATUS=66 package
expect 'without the base nothing is made' test "$status $(grep -c '^cmake' "$work/calls")" = '66 0'
expect 'the way out is told' grep -q -e '--no-base' "$work/err"
package --no-base
expect 'the base does not stay' test ! -e "$root/build/pi4-trixie/lookout-base_0.2_all.deb"

package --native --no-base
cat >"$work/expected" <<'END'
install-deps.sh --package 
make-package-root.sh  1800000000
cmake --preset native -DLOOKOUT_BASE= 1800000000
cmake --build --preset native 1800000000
cmake --install build/native 1800000000
cpack --preset native 1800000000
END
expect 'packages of the own system are made without a sysroot' cmp "$work/expected" "$work/calls"
expect 'they are installed here' grep -qx ' *sudo apt install ./lookout_0.2_amd64.deb ./lookout-torch_0.2_amd64.deb' "$work/out"
expect 'which needs no sysroot' test "$(grep -c 'once, ' "$work/out")" = 0
mkdir -p "$work/.cache/lookout/sysroot-trixie"
touch "$work/.cache/lookout/sysroot-trixie/lookout-sysroot"
package --no-base
expect 'a sysroot that is there takes nothing' test "$status $(grep -c 'once, ' "$work/out")" = '0 0'
printf 'ID=debian\nVERSION_ID="13"\n' >"$work/os-release"
package --native
expect 'also those of Debian 13, with the base' grep -q '^cmake --preset native -DLOOKOUT_BASE=/' "$work/calls"
ARCHITECTURE=arm64 ONNX_ALONE=1 package
expect 'on a board no argument is needed' grep -q '^cpack --preset native' "$work/calls"
expect 'its processor is that of a Raspberry Pi 4' grep -q 'LOOKOUT_BASE= -DCMAKE_CXX_FLAGS=-march=armv8-a+crc' "$work/calls"
expect 'lookout-base is not made there, which is told' grep -q 'no lookout-base: ' "$work/out"
expect 'without LibTorch the other engine is installed' \
  grep -qx ' *sudo apt install ./lookout_0.2_arm64.deb ./lookout-onnxruntime_0.2_arm64.deb' "$work/out"
ARCHITECTURE=arm64 package trixie
expect 'its own release may be named' grep -q '^cmake --build --preset native' "$work/calls"
package trixie
expect 'Debian 13 makes no packages for boards on a PC' test "$status" = 69
printf 'ID=debian\nVERSION_ID="12"\n' >"$work/os-release"
ARCHITECTURE=i386 package --native
expect 'another processor is refused' test "$status $(lines "$work/err") $(lines "$work/calls")" = '69 1 0'

for arguments in jessie '' 'trixie bookworm' '--native trixie' --weights '--no-base --weights my.pth'; do
  # shellcheck disable=SC2086  # one argument, none or two
  if [ -n "$arguments" ]; then package $arguments; else package ''; fi
  expect 'a bad argument is refused' test "$status $(lines "$work/err") $(lines "$work/calls")" = '64 1 0'
done

printf 'ID=fedora\nVERSION_ID=43\n' >"$work/os-release"
package --native
expect 'another system has no packages of its own' test "$status $(lines "$work/err") $(lines "$work/calls")" = '69 1 0'
package --no-base
expect 'another system is sent to the container' test "$status $(lines "$work/err") $(lines "$work/calls")" = '69 1 0'
expect 'and named' grep -q 'fedora 43.*container' "$work/err"
echo 'package.sh: arguments, steps, what it prints'
