#!/bin/sh
# Installs the packages that lookout needs on Debian 12 or 13. Packages that are there are left alone.
# While another program holds a lock of apt's, this waits for up to ten minutes. Of nginx and prometheus
# the tests need the program alone; Debian starts their services, too. Several options may be given.
#
#   install-deps.sh           to build and run
#   install-deps.sh --test    to run the tests too
#   install-deps.sh --check   to run them under sanitizers, and clang's checks, too
#   install-deps.sh --processors  to run tests on other x86 processors, emulated
#   install-deps.sh --models  to make models
#   install-deps.sh --bench   to run the benchmarks too
#   install-deps.sh --network to test cameras and clients on the network
#   install-deps.sh --mqtt    to test MQTT with the broker mosquitto
#   install-deps.sh --fleet   to test the rules and the dashboard with Prometheus, and the playbook with Ansible
#   install-deps.sh --container  to build and test the image
#   install-deps.sh --page    to test the page of the HTTP server in a browser
#   install-deps.sh --package to make packages for this machine's own system
#   install-deps.sh --target  to build, test and package for the Raspberry Pi 4, on this machine
#   install-deps.sh --root    to test on Debian 13 in a root of its own
set -eu

# With Debian's reference BLAS a float model takes 24 times as long. OpenBLAS is first in the list, so that
# apt takes no other BLAS and LAPACK beside it.
build='libopenblas0 cmake g++ libavcodec-dev libavformat-dev libavutil-dev libboost-dev
  libcamera-dev libcli11-dev libcurl4-openssl-dev libeigen3-dev libelf-dev libfmt-dev libjpeg-dev liblbfgs-dev
  libmd-dev libminizip-dev libmosquitto-dev libopencv-core-dev libopencv-highgui-dev
  libopencv-imgcodecs-dev libopencv-imgproc-dev libpng-dev libprotozero-dev libqrencode-dev
  libseccomp-dev libspdlog-dev libsqlite3-dev libswscale-dev libsystemd-dev libtiff-dev
  libtomlplusplus-dev libtorch-dev liburiparser-dev libutf8proc-dev libwebp-dev libyaml-dev ninja-build
  nlohmann-json3-dev pkg-config python3-pip unzip'
# Debian's LibTorch for arm64 runs no quantized archive: there it is that of PyPI, on boards with the memory for it.
case $(uname -m) in
aarch64) build=$(echo "$build" | sed 's/libtorch-dev//') ;;
esac
models='libopenblas0 python3 python3-numpy python3-pil python3-torch python3-torchvision python3-venv'
test='apt-utils ccache curl ffmpeg gpg gpgv jq libfaketime libgmock-dev libgtest-dev libx11-dev locales openssl python3
  python3-torch python3-venv python3-yaml rsync strace unzip xvfb zlib1g-dev'
check='clang clang-format clang-tidy libclang-rt-dev llvm'
processors='qemu-user'
bench='binutils gcc hey libbenchmark-dev python3-flask python3-opencv python3-venv python3-waitress qemu-user'
page='chromium chromium-driver fonts-dejavu-core nginx python3-pil python3-selenium python3-venv'
target='apt-utils arch-test binutils-aarch64-linux-gnu ccache clang-19 cmake cpio debian-archive-keyring
  dpkg-dev e2fsprogs g++-aarch64-linux-gnu git gpg help2man kmod lintian lld-19 llvm-19 mmdebstrap
  ninja-build patch pkg-config python3 python3-pip qemu-system-arm qemu-user-static unzip xz-utils'
package='ccache debian-archive-keyring dpkg-dev git help2man patch patchelf xz-utils'
network='ffmpeg gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  gstreamer1.0-plugins-ugly nginx python3 python3-gi python3-pil python3-requests'
mqtt='ca-certificates mosquitto openssl python3 python3-jsonschema python3-paho-mqtt'
fleet='ansible apt-utils debian-archive-keyring gpg mmdebstrap prometheus python3 python3-venv'
container='buildah curl debian-archive-keyring jq mmdebstrap procps python3-venv python3-yaml'
root='debian-archive-keyring mmdebstrap'

# ONNX Runtime, which Debian 12 lacks, comes from PyPI; what is built without it runs TorchScript alone. So does
# LibTorch on arm64, to compile with which takes 1.1 GB; without it, no TorchScript.
# get_engines [--size]
get_engines() {
  case $packages in
  *libspdlog-dev*) ;;
  *) return 0 ;;
  esac
  toolchains=$(dirname "$0")/../toolchains
  "$toolchains/get-onnxruntime.sh" "$@" || echo 'install-deps.sh: without ONNX Runtime, no ONNX models' >&2
  [ "$(uname -m)" = aarch64 ] || return 0
  if [ "$(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -lt 1800000 ]; then
    echo 'install-deps.sh: LibTorch is left out, since this machine has less than 2 GB of memory: no TorchScript models' >&2
    return 0
  fi
  "$toolchains/get-libtorch.sh" "$@" || echo 'install-deps.sh: without LibTorch, no TorchScript models' >&2
}

packages=
[ $# != 0 ] || packages=$build
for list in "$@"; do
  case $list in
  --models) packages="$packages $models" ;;
  --test) packages="$packages $build $test" ;;
  --check) packages="$packages $build $test $check" ;;
  --processors) packages="$packages $build $test $processors" ;;
  --bench) packages="$packages $build $models $test $bench" ;;
  --page) packages="$packages $page" ;;
  --fleet) packages="$packages $fleet" ;;
  --container) packages="$packages $container" ;;
  --mqtt) packages="$packages $mqtt" ;;
  --package) packages="$packages $build $package" ;;
  --target) packages="$packages $target" ;;
  --network) packages="$packages $network" ;;
  --root) packages="$packages $root" ;;
  *)
    sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
    exit 64
    ;;
  esac
done

# shellcheck disable=SC2086  # a list to be split
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $packages 2>/dev/null |
  sed -n 's/^installed //p')
missing=
for package in $packages; do
  # shellcheck disable=SC2086  # a list, whose packages are named once
  printf '%s\n' "$installed" $missing | grep -qxF "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
  get_engines --size
  get_engines
  exit 0
fi

sudo=
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install-deps.sh: not root and no sudo: as root, run: apt-get install$missing" >&2
    exit 77
  fi
  sudo=sudo
fi

errors=$(mktemp)
trap 'rm -f "$errors"' EXIT

# apt_get ARGUMENTS...: apt-get, tried again every 5 seconds while another program holds one of its
# locks. (DPkg::Lock::Timeout covers neither the lists nor the archives, and waits in silence.) Left out
# are the complaints of debconf and invoke-rc.d that a root or container lacks apt-utils and an init system.
apt_get() {
  tries=0
  while :; do
    status=0
    $sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get "$@" 2>"$errors" || status=$?
    lock=$(sed -n 's/^E: Could not get lock //p' "$errors" | head -n 1)
    if [ $status = 0 ] || [ -z "$lock" ] || [ $tries = 120 ]; then
      grep -vE '^(debconf: delaying package configuration|invoke-rc.d: (could not|WARNING: No init))' \
        "$errors" >&2 || :
      return $status
    fi
    [ $tries != 0 ] ||
      echo "install-deps.sh: another program is using apt; waiting for the lock $lock" >&2
    tries=$((tries + 1))
    sleep 5
  done
}

# Tells what apt would take. Fails when its lists lack a package. Measured: 0.04 seconds of processor time
# to unpack and configure a MB.
tell_size() {
  # shellcheck disable=SC2086
  LC_ALL=C apt-get --assume-no install --no-install-recommends -o Debug::NoLocking=1 $missing \
    2>/dev/null | awk '
    function mb(number, unit) {
      return number * (unit ~ /^G/ ? 1000 : unit ~ /^M/ ? 1 : unit ~ /^k/ ? 0.001 : 0)
    }
    /^Need to get / { download = mb($4, $5); known = 1 }
    /^After this operation, .* will be used/ { disk = mb($4, $5) }
    END {
      if (!known) exit 1
      printf "The packages: %.0f MB to download, %.0f MB on the disk, %d min to unpack.\n",
        download, disk, disk * 0.04 / 60 + 1
    }'
}

# What was downloaded goes when it is installed, as apt does it.
options='-y --no-install-recommends -o APT::Keep-Downloaded-Packages=false'
if [ -t 1 ]; then
  options="$options -o Dpkg::Progress-Fancy=1"
else
  options="$options -o Dpkg::Use-Pty=0"
fi

echo "Missing:$missing"
get_engines --size
told=
! tell_size || told=1
apt_get update -qq
[ -n "$told" ] || tell_size || :
# shellcheck disable=SC2086
apt_get install $options $missing || {
  status=$?
  grep -qE '^E: dpkg was interrupted|--fix-broken' "$errors" || exit $status
  echo 'install-deps.sh: an installation was interrupted; this completes it' >&2
  $sudo env LC_ALL=C DEBIAN_FRONTEND=noninteractive dpkg --configure -a >/dev/null 2>&1 || :
  apt_get install $options --fix-broken --no-remove
  apt_get install $options $missing
}
get_engines
