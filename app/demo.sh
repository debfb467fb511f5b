#!/bin/sh
# Shows lookout at work, from nothing: installs what is missing, builds, and lets the self-test model
# watch the built-in test camera for 10 seconds. Each result names the pattern that is shown and the
# model's answer. What was interrupted goes on where it was when this is run again.
#
#   demo.sh [OPTION...]   with options of `lookout run`, as --http 127.0.0.1:8090
set -eu
cd "$(dirname "$0")/.."

case ${1-} in
-h | --help)
  sed -n '2,/^set -eu/s/^# \{0,1\}//p' app/demo.sh
  exit
  ;;
esac

# x86_64, Debian 12 and 13. The build's processor time: measured on a server of 2023; estimated for an older
# one, where the build before took that much longer. The disk: build folder and ONNX Runtime, measured.
fast_seconds=200
slow_seconds=550
build_mb=90
if [ "$(uname -m)" = aarch64 ]; then  # estimated: of a Raspberry Pi 5 and 4
  fast_seconds=450 slow_seconds=1200
fi

if [ ! -e build/host/app/lookout ]; then
  processors=$(nproc)
  echo "Compiling takes $((fast_seconds / processors / 60 + 1)) to $((slow_seconds / processors / 60 + 1))" \
    "minutes on $processors processors, and $build_mb MB on the disk."
fi
deploy/install-deps.sh
# Again, too: what could not be fetched the last time may be there now. The tests of a tree with tests stay.
testing=-DBUILD_TESTING=OFF
[ ! -f build/host/build.ninja ] || testing=
cmake --preset host ${testing:+"$testing"}
cmake --build --preset host --target lookout
echo
exec build/host/app/lookout run 'test://all?hold=18' --timeout 10s "$@"
