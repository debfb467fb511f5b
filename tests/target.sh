#!/bin/bash
# The program and its packages on an emulated Raspberry Pi 4: a Cortex-A72, which knows no newer
# instructions, and Debian's libraries of the target.
#
#   target.sh models PRESET     the self-test model and both of ../shared/models: no illegal
#                               instruction, and the answers of build/host; 77 where they are absent
#   target.sh package PRESET    the packages that cpack made of build/PRESET
#   target.sh repeated PRESET   deploy/package.sh in two clones of the last commit makes the same bytes
#   target.sh service PRESET    those packages in a virtual machine with systemd and a camera
#   target.sh engines PRESET    ... whose engines come and go under the running service
#   target.sh trials PRESET     ... with new models that go wrong while they are used, and a broker
#   target.sh power PRESET      ... whose power fails in the middle of an upgrade, of the packages in the folder
#                               LOOKOUT_OLD_PACKAGES or of ones that are made; whose root is read-only then
#   target.sh mqtt PRESET       ... with a broker on the same board
#   target.sh train PRESET      ... whose owner teaches it classes of his own, by commands
#   target.sh teach PRESET      ... and over HTTP
#   target.sh page PRESET       ... and with the page, in Chromium on this machine; 77 where that is absent
#   target.sh setup PRESET      ... that lookout setup sets up, with a broker on the same board
#   target.sh camera PRESET     ... whose camera goes away and comes back LOOKOUT_CAMERA_LOSSES times, by
#                               default 50
#   target.sh libcamera PRESET [backports]
#                               ... on a camera of libcamera's, that of the suite or of its backports
#   target.sh upgrade PRESET    ... while libcamera is upgraded to that of the backports, and downgraded;
#                               for Debian 13 alone
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1
build=build/$2
program=$build/app/lookout
sysroot=$(sed -n 's/^LOOKOUT_SYSROOT:PATH=//p' "$build/CMakeCache.txt")
suite=$(sed -n 's/^suite=//p' "$sysroot/lookout-sysroot")
shared=../shared/models
guest=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}/guest-$suite
libcameras=(0.0.3 0.3)  # of the suite and of its backports
[ "$suite" = bookworm ] || libcameras=(0.4 0.7)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Of scores. LibTorch 1.13.1 on x86 and 2.9.1 on the target gave equal ones, to the four digits that
# are printed; this leaves room for one rounding that goes the other way.
tolerance=0.005

emulated() {
  local status=0
  qemu-aarch64-static -cpu cortex-a72 -L "$sysroot" -U LD_LIBRARY_PATH \
    -E QEMU_LD_PREFIX="$sysroot" "$@" || status=$?
  [ $status -lt 128 ] || echo "killed by signal $((status - 128)) ($(kill -l $((status - 128))))" >&2
  return $status
}

fail() {
  echo "target.sh: $*" >&2
  exit 1
}

# models_agree NAME SOURCE ARGUMENTS...
models_agree() {
  local name=$1 source=$2
  shift 2
  build/host/app/lookout "$source" "$@" --format json --log-level warn > "$work/host"
  emulated "$program" "$source" "$@" --format json --log-level warn > "$work/target"
  echo -n "$name on host and target: "
  python3 tests/tools/same_results.py "$work/host" "$work/target" $tolerance
}

models() {
  models_agree 'self-test model' 'test://all?fps=0&hold=1&frames=16'
  [ -d $shared/samples ] || exit 77
  for archive in mobilenet_v2_qnnpack mobilenet_v2_xnnpack; do
    models_agree $archive $shared/samples --model $shared/$archive.pt
  done
}

# right_patterns COMMAND...: every one of the 16 patterns is named: they are shown in the order of the
# self-test model's labels.
right_patterns() {
  "$@" 'test://all?fps=0&hold=1&frames=16' --format json --log-level error > "$work/patterns"
  python3 - "$work/patterns" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
seen = [line for line in lines if line["type"] == "classification"]
wrong = [(l["file"], l["results"][0]) for l in seen if l["seq"] != l["results"][0]["index"]]
print(f"{len(seen)} patterns, {len(wrong)} wrong {wrong or ''}")
sys.exit(len(seen) != 16 or bool(wrong))
END
}

needed() { aarch64-linux-gnu-readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u; }

opencv_functions() { aarch64-linux-gnu-nm -D "$@" | grep -oE '_Z(T[ISV])?NK?2cv\w+' | sort -u; }

# deb NAME: the package's file.
deb() { echo "$build/$1"_*_arm64.deb; }

find_packages() {
  local packages=("$build"/lookout*_arm64.deb)
  [ ${#packages[@]} = 3 ] || fail "not three packages: ${packages[*]}"
  program_deb=$(deb lookout) torch_deb=$(deb lookout-torch) onnxruntime_deb=$(deb lookout-onnxruntime)
  debs=("$program_deb" "$torch_deb" "$onnxruntime_deb")
}

check_fields() {
  local deb depends version one_engine library
  for deb in "${debs[@]}"; do
    ls -l "$deb"
    dpkg-deb -f "$deb" Version Depends Recommends Suggests Breaks Replaces Installed-Size
    if [ "$suite" = bookworm ] || grep -q trixie /etc/os-release; then
      lintian --fail-on error "$deb"
    fi
  done
  version=$(dpkg-deb -f "$program_deb" Version)
  depends=$(dpkg-deb -f "$program_deb" Depends)
  one_engine=", lookout-torch (= $version) | lookout-onnxruntime (= $version)"
  [[ $depends = *"$one_engine"* ]] || fail "the program does not depend on an engine of its version: $depends"
  ! grep -E 'opencv|libav|libsw|libcamera|mosquitto|libcurl|lookout' <<< "${depends/"$one_engine"/}" ||
    fail 'the package cannot be had without windows, videos, MQTT, messages, libcamera or both engines'
  # What the answers of `lookout setup` need comes with the program: a broker's and messages' libraries, and no more.
  for library in libmosquitto1 libcurl4; do
    dpkg-deb -f "$program_deb" Recommends | grep -q "$library" || fail "the package does not recommend $library"
  done
  ! dpkg-deb -f "$program_deb" Recommends | grep -E 'libav|libsw|qt|Qt|gtk|opencv' || fail 'the package recommends videos or windows'
  # Debian's would be the wrong one on Raspberry Pi OS.
  ! dpkg-deb -f "$program_deb" Suggests Recommends | grep 'libcamera[0-9]' || fail 'the package asks for a libcamera'
  depends="lookout (= $version), libc6 "
  for deb in "$torch_deb" "$onnxruntime_deb"; do
    [[ $(dpkg-deb -f "$deb" Depends) = "$depends"* ]] || fail "$deb does not depend on $depends"
  done
}

# refused PACKAGE ENGINE ARGUMENTS...: without the package, which brings the engine, with a sentence.
refused() {
  local package=$1 engine=$2 status=0
  shift 2
  emulated "$program" "$@" --log-level error > "$work/out" 2> "$work/err" || status=$?
  [ $status = 66 ] || fail "without $package it ends with $status: $(cat "$work/err")"
  grep -qF "$engine models cannot be run: there is no ${program%/bin/*}/lib/lookout/lib$package.so; install the package $package" \
    "$work/err" || fail "without $package it says: $(cat "$work/err")"
}

# Without an engine, and with ONNX Runtime alone.
engines() {
  local models=$work/engines/usr/share/lookout package
  dpkg-deb -x "$program_deb" "$work/engines"
  program=$work/engines/usr/bin/lookout
  refused lookout-torch TorchScript test://red --timeout 1s
  refused lookout-onnxruntime ONNX test://red --timeout 1s --model "$models/selftest.onnx"
  emulated "$program" doctor test://red > "$work/doctor" 2>&1 || true
  for package in lookout-torch lookout-onnxruntime; do
    grep -q "^note .*install the package $package" "$work/doctor" || fail "doctor: $(cat "$work/doctor")"
  done
  grep -q 'would end with exit status 66' "$work/doctor" || fail "doctor: $(cat "$work/doctor")"
  echo 'without an engine: one sentence'

  dpkg-deb -x "$onnxruntime_deb" "$work/engines"
  echo -n 'ONNX Runtime alone: '
  right_patterns emulated "$program"
  refused lookout-torch TorchScript test://red --timeout 1s --model "$models/selftest.pt"
  rm -r "$work/engines"
}

# Taught without naming a base: that of lookout-base, where it was made, else the self-test model in its place.
taught() {
  local folder=$work/root/usr/share/lookout bases label
  bases=("$build"/lookout-base_*_all.deb)
  emulated "$program" doctor test://red > "$work/doctor" 2>&1 || true
  grep -q '^note *base .*install the package lookout-base' "$work/doctor" || fail "doctor: $(cat "$work/doctor")"
  if [ -e "${bases[0]}" ]; then
    lintian --fail-on error "${bases[0]}"
    [ "$(dpkg-deb -f "${bases[0]}" Architecture)" = all ] || fail "${bases[0]} is not for every board"
    dpkg-deb -x "${bases[0]}" "$work/root"
    grep -q '^Source: https://' "$work/root/usr/share/doc/lookout-base/copyright" || fail 'the base has no origin'
  else
    cp "$folder/selftest.pt" "$folder/base.pt"
  fi
  emulated "$program" doctor test://red > "$work/doctor" 2>&1 || true
  grep -q "^ok *base *$folder/base[.]pt" "$work/doctor" || fail "doctor: $(cat "$work/doctor")"
  for label in red cross; do
    emulated "$program" collect "test://$label?fps=0&frames=6&noise=20" "$work/pictures" --label $label --every 0 \
      --log-level warn > /dev/null
  done
  emulated "$program" train "$work/pictures" -o "$work/taught.pt" > "$work/out" 2> "$work/err" || fail "train: $(cat "$work/err")"
  grep -qF "the base is $folder/base.pt" "$work/err" || fail "train does not name its base: $(cat "$work/err")"
  echo 'taught from the base'
}

package() {
  local deb
  find_packages
  check_fields
  engines
  for deb in "${debs[@]}"; do dpkg-deb -x "$deb" "$work/root"; done
  cd "$work/root"
  for file in etc/lookout/lookout.toml usr/share/lookout/selftest.pt usr/share/man/man1/lookout.1.gz \
    usr/share/bash-completion/completions/lookout usr/share/doc/lookout/{copyright,README.md} \
    usr/lib/udev/rules.d/60-lookout.rules usr/share/lookout/libcamera/libcamera_module.{cpp,h} usr/lib/lookout/libcamera/build \
    usr/lib/lookout/lookout-{decoder,overlay,stream-decoder} usr/lib/lookout/liblookout-{mqtt,onnxruntime,torch,video,webhook}.so \
    usr/share/doc/lookout-torch/{copyright,libtorch-notices.gz} \
    usr/share/doc/lookout-onnxruntime/{copyright,LICENSE,ThirdPartyNotices.txt.gz} \
    $(printf 'usr/lib/lookout/libcamera/%s.so ' "${libcameras[@]}"); do
    [ -s $file ] || fail "$file is missing"
  done
  "$OLDPWD/tests/tools/check_links.py" --installed usr/share/doc/lookout
  # Sections, and the rows of those that are made from tables of the pages in app/.
  gunzip -c usr/share/man/man1/lookout.1.gz > "$work/manual"
  for line in '[.]SH "?'{OUTPUT,'EXIT STATUS',SOURCES,FILES,EXAMPLES} '(.fB)?'{classification,summary,0,78} \
    '.fB(size|fps|noise|hold|frames)='; do
    grep -qE "^$line" "$work/manual" || fail "the manual has no line like $line"
  done
  needed usr/bin/lookout usr/lib/lookout/*.so* usr/lib/lookout/lookout-{decoder,overlay,stream-decoder} > "$work/needed"
  for library in usr/lib/lookout/*; do
    # Parts of ours, which are looked for when they are wanted.
    [[ $library != */*lookout-* && ! -d $library ]] || continue
    grep -qxF "${library##*/}" "$work/needed" || fail "nothing needs $library"
  done
  # The package's OpenCV is a part of Debian's. The overlay's window, which is suggested alone, runs with Debian's.
  opencv_functions --undefined-only usr/bin/lookout usr/lib/lookout/{*.so,lookout-{,stream-}decoder} > "$work/called"
  opencv_functions --defined-only usr/lib/lookout/libopencv_*.so.* > "$work/there"
  [ -s "$work/called" ] || fail 'nothing calls OpenCV'
  comm -23 "$work/called" "$work/there" > "$work/absent"
  [ ! -s "$work/absent" ] || fail "the package's OpenCV lacks $(c++filt < "$work/absent")"
  aarch64-linux-gnu-readelf -d usr/bin/lookout | grep -q 'RUNPATH.*\[.ORIGIN/../lib/lookout\]' ||
    fail 'the RUNPATH is not the package'\''s own'
  for library in usr/lib/lookout/{liblookout-{torch,onnxruntime}.so,lookout-{,stream-}decoder}; do
    aarch64-linux-gnu-readelf -d $library | grep -q 'RUNPATH.*\[.ORIGIN\]' || fail "the RUNPATH of $library is not its folder"
  done
  ! grep -arlF -e "$sysroot" -e "$OLDPWD" usr/bin usr/lib ||
    fail 'a folder of this machine is in a program'
  cd "$OLDPWD"
  program=$work/root/usr/bin/lookout
  right_patterns emulated "$program"
  [ ! -d $shared/samples ] || models_agree 'pictures, packaged program' $shared/samples
  taught

  installations
}

# The package of 0.1.0 had LibTorch, too.
make_old_package() {
  local tree=$work/old
  dpkg-deb -R "$program_deb" "$tree"
  dpkg-deb -x "$torch_deb" "$tree"
  rm -r "$tree/usr/share/doc/lookout-torch"
  sed -i '/^interest.* \/usr\/lib\/lookout$/d' "$tree/DEBIAN/triggers"
  sed -i 's/^Version: .*/Version: 0.1.0+deb12/; s/, lookout-torch ([^)]*) | lookout-onnxruntime ([^)]*)//' "$tree/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip -z1 -b "$tree" "$work/old.deb" > /dev/null
  rm -r "$tree"
}

# dpkg itself: install, upgrade, remove, purge, in a folder. Dependencies are apt's affair. Of what
# services wrote there are a folder, systemd's link for a dynamic user, and a link of the owner's.
installations() {
  local root=$work/dpkg
  make_old_package
  mkdir -p "$root/var/lib/dpkg/"{info,updates,triggers} "$root/etc" "$root/srv"
  touch "$root/var/lib/dpkg/"{status,available}
  echo root:x:0:0:root:/root:/bin/sh > "$root/etc/passwd"
  echo root:x:0: > "$root/etc/group"
  local dpkg=(dpkg --root="$root" --force-not-root --force-architecture --force-depends
    --force-script-chrootless --force-confold --log=/dev/null)
  mkdir -p "$root/var/lib/"{lookout,private/lookout@front}
  touch "$root/var/lib/"{lookout,private/lookout@front}/states "$root/srv/pictures"
  ln -s private/lookout@front "$root/var/lib/lookout@front"
  ln -s ../../srv "$root/var/lib/lookout@back"
  {
    "${dpkg[@]}" --install "$work/old.deb" &&
      echo '# mine' >> "$root/etc/lookout/lookout.toml" &&
      cp "$root/etc/lookout/lookout.toml" "$root/etc/lookout/front.toml" &&
      "${dpkg[@]}" --install "${debs[@]}" &&
      "${dpkg[@]}" --install "${debs[@]}" &&
      grep -q '^# mine' "$root/etc/lookout/lookout.toml" &&
      grep -q '^lookout:' "$root/etc/passwd" && grep -q '^lookout:' "$root/etc/group" &&
      "${dpkg[@]}" --remove lookout-torch &&
      [ ! -e "$root/usr/lib/lookout/libtorch_cpu.so" ] && [ -e "$root/usr/lib/lookout/libonnxruntime.so.1" ] &&
      "${dpkg[@]}" --remove lookout lookout-onnxruntime &&
      [ -e "$root/etc/lookout/lookout.toml" ] && [ ! -e "$root/usr/bin/lookout" ] &&
      "${dpkg[@]}" --purge lookout
  } > "$work/log" 2>&1 || { cat "$work/log"; fail 'dpkg: see above'; }
  ! grep -s '^lookout:' "$root/etc/"{passwd,group,shadow,gshadow} || fail 'purge leaves the user or group'
  rm -f "$root/etc/"{passwd,group,shadow,gshadow}{,-} "$root/etc/.pwd.lock"
  rm "$root/srv/pictures" || fail 'purge removes what a link leads to'
  rm -rf "$root/var/lib/dpkg"
  local left
  left=$(find "$root" ! -type d)
  [ -z "$left" ] || fail "purge leaves: $left"
  echo 'installed, upgraded, removed and purged'
}

# The clones have names of different lengths, and the second compiles everything itself.
repeated() {
  local clone package clones=(one the-other-one)
  for clone in "${clones[@]}"; do
    git clone --quiet . "$work/$clone"
  done
  "$work/${clones[0]}/deploy/package.sh" "$suite" --no-base
  (
    umask 077
    CCACHE_DISABLE=1 TZ=Pacific/Auckland LC_ALL=C "$work/${clones[1]}/deploy/package.sh" "$suite" --no-base
  )
  for package in lookout lookout-torch lookout-onnxruntime; do
    cmp "$work"/*/"$build/$package"_*_arm64.deb || {
      for clone in "${clones[@]}"; do
        dpkg-deb -R "$work/$clone/$build/$package"_*_arm64.deb "$work/$clone/unpacked"
      done
      diff -rq --no-dereference "$work"/*/unpacked || true
      fail "two builds of one commit differ: $package"
    }
  done
  echo 'two builds, the same bytes'
}

# named_in FIELD DEB...: the packages of others that these name there, of alternatives the first.
named_in() {
  local field=$1
  shift
  printf '%s\n' "$@" | xargs -I DEB dpkg-deb -f DEB "$field" | sed 's/([^)]*)//g; s/|[^,]*//g' |
    tr -s ', \n' '\n' | awk '!/^lookout/ && !seen[$0]++'
}

# make_guest [PACKAGE...]: the guest has what the packages depend on, and these.
make_guest() {
  local depends
  depends=$(named_in Depends "${debs[@]}")
  # shellcheck disable=SC2086
  tests/vm/make-guest.sh "$guest" "$suite" arm64 $depends "$@"
}

# in_guest SECONDS COMMAND: the packages and $work's files in the guest.
in_guest() {
  local seconds=$1 command=$2
  cp "${debs[@]}" "$work"
  tests/vm/run-guest.sh "$guest" "$work" "$command" "$seconds" || {
    local status=$?
    cp "$work/.guest/console" "$build/guest-console.log"
    fail "ended with $status; the guest's console is kept in $build/guest-console.log"
  }
}

engines_in_guest() {
  find_packages
  make_old_package
  cp tests/vm/{service,engines_test}.sh "$work"
  cp $shared/mobilenet_v2_s8.onnx "$work" 2> /dev/null || true
  make_guest || {
    echo 'target.sh: the virtual machine is tried again' >&2
    make_guest
  }
  in_guest 1800 'bash engines_test.sh'
}

service() {
  find_packages
  cp tests/vm/{service,service_test}.sh "$build"/tests/{platform_tests,bare_forward} "$work"
  cp $shared/mobilenet_v2_xnnpack.pt "$work" 2> /dev/null || true
  python3 tests/predict/hostile_pictures.py "$work/hostile" \
    --names '^(hidden-400mp|scans-[07]|deep[.]|ztxt-100[.]|pixels-behind|lossless-268mp|phone)'
  local extent=
  [ "$suite" = bookworm ] || extent=--short
  make_guest
  in_guest 2700 "bash service_test.sh $extent"
}

trials() {
  find_packages
  guest+=-mqtt
  cp tests/vm/{service,model_test}.sh "$work"
  /usr/bin/python3 tests/tools/bad_models.py "$work"
  make_guest libmosquitto1 mosquitto mosquitto-clients
  in_guest 2700 'bash model_test.sh'
}

# Each cut begins on a copy of the disk on which the packages of before are installed.
power() {
  local tree=$work/tree moment deb version status
  find_packages
  cp tests/vm/{service,power_test}.sh "$work"
  mkdir "$work/old"
  for deb in "$program_deb" "$onnxruntime_deb"; do
    if [ -n "${LOOKOUT_OLD_PACKAGES-}" ]; then
      cp "$LOOKOUT_OLD_PACKAGES/$(dpkg-deb -f "$deb" Package)"_*_arm64.deb "$work/old"
      continue
    fi
    dpkg-deb -R "$deb" "$tree"
    version=$(dpkg-deb -f "$deb" Version)
    sed -i "s/${version//./[.]}/0.1.9/g" "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 -b "$tree" "$work/old/${deb##*/}" > /dev/null
    rm -r "$tree"
  done
  make_guest
  cp "$guest/root.img" "$work/.installed"
  /sbin/tune2fs -O has_journal "$work/.installed" > /dev/null  # as a board has it
  LOOKOUT_GUEST_DISK=$work/.installed in_guest 900 'bash power_test.sh install'
  for moment in /usr/bin/lookout /usr/lib/lookout/libonnxruntime.so.1 configured; do
    echo "the power fails: $moment"
    cp "$work/.installed" "$work/.disk"
    export LOOKOUT_GUEST_DISK=$work/.disk
    rm -f "$work/cut"
    status=0
    tests/vm/run-guest.sh "$guest" "$work" "bash power_test.sh cut $moment" 600 2> /dev/null || status=$?
    [ $status = 125 ] && grep -q '^lookout .* \(half-\|unpacked\)' "$work/cut" || fail "the power did not fail in the upgrade: $status"
    in_guest 900 'bash power_test.sh after'
  done
  echo 'the root is read-only'
  in_guest 900 'bash power_test.sh read-only'
}

mqtt() {
  find_packages
  guest+=-mqtt
  cp tests/vm/{service,mqtt_test}.sh "$work"
  make_guest libmosquitto1 mosquitto mosquitto-clients
  in_guest 1200 'bash mqtt_test.sh'
}

# The packages in a signed repository, $work/repository, and the package of its keyring. With lookout-base, where
# it was made.
make_repository() {
  local address=file:/mnt/host/repository key bases
  bases=("$build"/lookout-base_*_all.deb)
  [ -e "${bases[0]}" ] || bases=()
  export GNUPGHOME=$work/gpg
  mkdir -m700 "$GNUPGHOME"
  gpg --batch --quiet --passphrase '' --quick-gen-key 'test <test@lookout.invalid>' ed25519 sign never
  key=$(gpg --batch --quiet --with-colons --list-secret-keys | awk -F: '$1 == "fpr" { print $10; exit }')
  gpg --batch --quiet --output "$work/key.pgp" --export "$key"
  deploy/apt-repository.sh --key "$key" "$work/repository" "${debs[@]}" "${bases[@]}" > /dev/null
  gpgconf --kill all
  deploy/archive-keyring.sh $address 2026.1 "$work" "$work/key.pgp" > /dev/null
}

# make_mirror: $work/debian is in the place of a mirror of Debian's, with what the program recommends.
make_mirror() {
  local recommended
  mapfile -t recommended < <(named_in Recommends "$program_deb")
  tests/vm/get-packages.sh "$guest" "$work/debian" "${recommended[@]/%//$suite}"
  (cd "$work/debian" && apt-ftparchive packages . > Packages)
}

# The guest has no library of MQTT's but what apt brings: the broker and its commands are only unpacked beside it.
setup() {
  find_packages
  cp tests/vm/{service,setup_test}.sh "$work"
  make_repository
  make_guest
  make_mirror
  tests/vm/get-packages.sh "$guest" "$work/broker" {mosquitto,mosquitto-clients}/"$suite"
  in_guest 1800 'bash setup_test.sh'
}

train() {
  local base=$shared/mobilenet_v2_xnnpack.pt
  find_packages
  [ -e "$base" ] || base=$build/share/lookout/selftest.pt
  cp tests/vm/{service,train_test}.sh "$base" "$work"
  make_guest
  in_guest 1800 "bash train_test.sh ${base##*/}"
}

teach() {
  local base=$shared/mobilenet_v2_xnnpack.pt
  find_packages
  [ -e "$base" ] || base=$build/share/lookout/selftest.pt
  cp tests/vm/{service,teach_test}.sh "$base" "$work"
  make_guest
  in_guest 1800 "bash teach_test.sh ${base##*/}"
}

page() {
  local port
  { command -v chromedriver && /usr/bin/python3 -c 'import selenium'; } > /dev/null 2>&1 || exit 77
  find_packages
  cp tests/vm/{service,page_test}.sh "$build/share/lookout/selftest.pt" "$work"
  make_guest
  port=$(python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
  tests/page/guest_test.py "$port" "$work" &
  browser=$!
  trap 'kill $browser 2> /dev/null || true; rm -rf "$work"' EXIT
  LOOKOUT_GUEST_PORT=$port in_guest 2700 'bash page_test.sh selftest.pt'
  wait $browser || fail 'the page is not as it should be'
}

camera() {
  find_packages
  cp tests/vm/camera_test.sh "$work"
  make_guest
  in_guest 3600 "dpkg -i lookout_*.deb lookout-torch_*.deb > /dev/null && sh camera_test.sh /usr/bin/lookout ${LOOKOUT_CAMERA_LOSSES:-50}"
}

# A guest of its own: that of `service` shows that libcamera can be missing. Debian 12's libcamera has no
# virtual camera; with Debian 13's no module has to be built.
libcamera() {
  find_packages
  guest+=-libcamera
  if [ "${1-}" = backports ]; then
    guest+=-backports
    make_guest "libcamera${libcameras[1]}/$suite-backports" "libcamera-ipa/$suite-backports"
  else
    make_guest "libcamera${libcameras[0]}" libcamera-ipa
  fi
  local camera=virtual
  if [ "$suite" = bookworm ]; then
    camera=vimc
    tests/vm/make-vimc.sh "$guest"
    cp "$guest/vimc.ko" "$work"
  fi
  cp tests/vm/{service,virtual,libcamera_test}.sh "$build/tests/platform_tests" "$work"
  in_guest 2700 "bash libcamera_test.sh $camera"
}

upgrade() {
  local old=${libcameras[0]} new=${libcameras[1]}
  find_packages
  guest+=-upgrade
  # With what the newer one needs, since the guest has no network.
  make_guest "libcamera$old" libcamera-dev libcamera-ipa g++ pkg-config libegl1 libgles2
  tests/vm/get-packages.sh "$guest" "$work/$old" {"libcamera$old",libcamera-dev,libcamera-ipa}/"$suite"
  tests/vm/get-packages.sh "$guest" "$work/$new" {"libcamera$new",libcamera-dev,libcamera-ipa}/"$suite-backports"
  cp tests/vm/{service,virtual,libcamera_upgrade_test}.sh "$work"
  in_guest 5400 "bash libcamera_upgrade_test.sh $old $new"
}

case $what in
models) models ;;
package) package ;;
repeated) repeated ;;
service) service ;;
engines) engines_in_guest ;;
trials) trials ;;
power) power ;;
mqtt) mqtt ;;
train) train ;;
teach) teach ;;
page) page ;;
setup) setup ;;
camera) camera ;;
libcamera) libcamera "${3-}" ;;
upgrade) upgrade ;;
*) sed -n '2,/^set -euo/s/^# \{0,1\}//p' "$0"; exit 64 ;;
esac
