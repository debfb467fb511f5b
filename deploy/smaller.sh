#!/bin/sh
# smaller.sh STRIP LIBRARY OUTPUT: strips a library, unless that makes it larger (it can, where the
# library was patched after it was linked).
set -eu
mkdir -p "${3%/*}"
"$1" --strip-unneeded -o "$3" "$2"
[ "$(stat -c %s "$3")" -lt "$(stat -Lc %s "$2")" ] || cp "$2" "$3"
chmod 644 "$3"
