#!/bin/sh
# own-libraries.sh LIBRARY...: Debian's LibTorch as part of a package. Each library finds the others beside itself,
# and no longer asks for those that it calls nothing of: Debian links LibTorch of Debian 12 with FFmpeg and all of
# OpenCV, whose functions the package's own smaller OpenCV would have to have.
set -eu
export LC_ALL=C
for library in "$@"; do
  patchelf --set-rpath "\$ORIGIN" "$library"
  for unused in $(ldd -u "$library" | sed -n 's,^[[:space:]]*/.*/,,p'); do
    case $unused in
    libopencv_* | libav* | libsw* | libOpenCL.so.* | libleveldb.so.* | liblmdb.so.* | libsnappy.so.* | libzmq.so.*)
      patchelf --remove-needed "$unused" "$library"
      ;;
    esac
  done
done
