#!/bin/bash
# The two commands of the README on Debian 13: app/demo.sh, then tests/run.sh --all, on a clone of this
# checkout's last commit, in a Debian 13 root of its own.
#
#   trixie.sh
#
# The last line is that of tests/run.sh there: N passed, N failed, N skipped. The root keeps the packages
# that were installed in it; it lies in host-trixie beside make-sysroot.sh's. Delete it to begin from
# nothing. ../shared and the cache of ccache are this machine's. Needs root, and HOME.
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
root=$cache/host-trixie
ccache=${CCACHE_DIR:-$HOME/.cache/ccache}

make_root() {
  local work new=$root.new
  work=$(mktemp -d)
  toolchains/mirrors.sh trixie >"$work/sources.list"
  apt-config dump | grep -E '^Acquire::(http|https|Retries|Check)' >"$work/apt.conf" || true
  rm -rf --one-file-system "$new"
  mmdebstrap --mode=root --variant=minbase --quiet --include=ca-certificates,git \
    --keyring=/usr/share/keyrings/debian-archive-keyring.gpg --aptopt="$work/apt.conf" \
    trixie "$new" "$work/sources.list"
  rm -rf "$work"
  mv "$new" "$root"
}

# Runs in a mount namespace of its own: whatever is mounted here goes with it.
enter() {
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/dev/shm"
  mount -t tmpfs tmpfs "$root/tmp"
  mkdir -p "$root/src/shared" "$root/ccache" "$ccache"
  mount --bind "$ccache" "$root/ccache"
  if [ -d ../shared ]; then
    mount --bind ../shared "$root/src/shared"
    mount -o remount,bind,ro "$root/src/shared"
  fi
  local settings=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CCACHE_DIR=/ccache) name
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name-}" ] || settings+=("$name=${!name}")
  done
  exec chroot "$root" env -i "${settings[@]}" sh -ec 'cd /src/lookout; app/demo.sh; tests/run.sh --all'
}

if [ "${1-}" = --enter ]; then
  enter
fi
mkdir -p "$cache"
[ -d "$root" ] || make_root
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf --one-file-system "$root/src/lookout"
git clone --quiet --no-hardlinks . "$root/src/lookout"
exec unshare --mount "$0" --enter
