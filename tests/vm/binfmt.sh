#!/bin/bash
# Has this kernel execute programs of another machine by qemu, as a child of an emulated program and the
# maintainer scripts of a foreign root need it. Needs root and qemu-user-static.
#
#   binfmt.sh MACHINE    aarch64 or x86_64
set -euo pipefail
formats=/proc/sys/fs/binfmt_misc
[ "$(uname -m)" != "$1" ] || exit 0
[ -e $formats/register ] || mount -t binfmt_misc none $formats
grep -qs "^interpreter .*$1" $formats/* || cat "/usr/lib/binfmt.d/qemu-$1.conf" > $formats/register
