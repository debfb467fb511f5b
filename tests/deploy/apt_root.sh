#!/bin/bash
# Prints a folder with the other Debian of 12 and 13, whose apt apt_repository_test.sh tries, too: LOOKOUT_APT_ROOT,
# that of root.sh, or a small one, which is made once in LOOKOUT_CACHE, in a minute or three. Prints nothing where none
# can be made: without root, mmdebstrap or the network.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ -n "${LOOKOUT_APT_ROOT-}" ] || [ "$(id -u)" != 0 ]; then
  echo "${LOOKOUT_APT_ROOT-}"
  exit
fi
[ -n "${LOOKOUT_CACHE-}${XDG_CACHE_HOME-}${HOME-}" ] || exit 0
cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
suite=trixie
! grep -q '^VERSION_CODENAME=trixie' /etc/os-release || suite=bookworm
root=$cache/apt-$suite
machine=$(dpkg --print-architecture)
[ ! -x "$cache/root-$suite-$machine/usr/bin/apt-get" ] || root=$cache/root-$suite-$machine
if [ ! -d "$root" ]; then
  command -v mmdebstrap >/dev/null || exit 0
  toolchains/make-root.sh "$suite" "$root" --variant=apt || exit 0
fi
echo "$root"
