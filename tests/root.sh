#!/bin/bash
# Commands of the README on another system: in a Debian root of its own that held nothing but git, on a clone
# of this checkout's last commit.
#
#   root.sh SUITE ARCHITECTURE COMMAND
#
# SUITE is bookworm or trixie, ARCHITECTURE amd64 or arm64; COMMAND is given to sh in the clone. The exit status is
# COMMAND's. The root keeps the packages that were installed in it; it lies in root-SUITE-ARCHITECTURE beside
# make-sysroot.sh's. Delete it to begin from nothing. ../shared and the cache of ccache are this machine's.
# Needs root, and HOME.
#
# A root of another architecture is emulated, but for its compiler, which would take hours: compiler
# and assembler are those of the same release that cross-compile, with the folders of the root's own.
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# = 3 ] || [ "${1-}" = --enter ] || {
  sed -n '2,/^set -euo/s/^# \{0,1\}//p' "$0"
  exit 64
}
cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
ccache=${CCACHE_DIR:-$HOME/.cache/ccache}

# What is run in place of the emulated programs: a compiler for arm64 that runs on this machine, at /cross of
# the root. dpkg puts the root's own ones beside them.
use_cross_compiler() {
  local version folder cross_folder loader
  case $suite in
  bookworm) version=12 folder=/usr/lib/gcc cross_folder=/usr/lib/gcc-cross ;;
  *) version=14 folder=/usr/libexec/gcc cross_folder=/usr/libexec/gcc-cross ;;
  esac
  [ -d "$cache/cross-$suite" ] || toolchains/make-root.sh "$suite" "$cache/cross-$suite" --variant=extract \
    --include="g++-$version-aarch64-linux-gnu,binutils-aarch64-linux-gnu"
  loader=$(cd "$cache/cross-$suite" && find . -path '*/x86_64-linux-gnu/ld-linux-x86-64.so.2' | sed 's,^\.,/cross,')
  mkdir -p "$root/cross"
  local includes="/usr/lib/gcc/aarch64-linux-gnu/$version/include /usr/local/include /usr/include/aarch64-linux-gnu /usr/include"
  local cxx="/usr/include/c++/$version /usr/include/aarch64-linux-gnu/c++/$version /usr/include/c++/$version/backward"
  # replace PATH CROSS-PATH INCLUDE...
  replace() {
    local path=$1 real=$2 arguments='"$@"'
    shift 2
    [ $# = 0 ] || arguments+=" -nostdinc$(printf ' -isystem %s' "$@")"
    chroot "$root" dpkg-divert --quiet --local --rename --divert "$path.emulated" --add "$path"
    mkdir -p "$root/$(dirname "$path")"
    cat >"$root/$path" <<END
#!/bin/sh
exec $loader --library-path /cross/usr/lib/x86_64-linux-gnu:${loader%/*} /cross$real $arguments
END
    chmod +x "$root/$path"
  }
  folder+=/aarch64-linux-gnu/$version cross_folder+=/aarch64-linux-gnu/$version
  # shellcheck disable=SC2086  # lists
  {
    replace "$folder/cc1plus" "$cross_folder/cc1plus" $cxx $includes
    replace "$folder/cc1" "$cross_folder/cc1" $includes
  }
  replace /usr/bin/aarch64-linux-gnu-as /usr/bin/aarch64-linux-gnu-as
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
  [ ! -d "$root/cross" ] || mount --bind "$cache/cross-$suite" "$root/cross"
  if [ -d ../shared ]; then
    mount --bind ../shared "$root/src/shared"
    mount -o remount,bind,ro "$root/src/shared"
  fi
  local settings=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CCACHE_DIR=/ccache) name
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name-}" ] || settings+=("$name=${!name}")
  done
  exec chroot "$root" env -i "${settings[@]}" sh -ec "cd /src/lookout; $command"
}

if [ "$1" = --enter ]; then
  suite=$2 root=$3 command=$4
  enter
fi
suite=$1 architecture=$2 command=$3
root=$cache/root-$suite-$architecture
case $architecture in
arm64) tests/vm/binfmt.sh aarch64 ;;
*) tests/vm/binfmt.sh x86_64 ;;
esac
[ -d "$root" ] ||
  toolchains/make-root.sh "$suite" "$root" --variant=minbase --include=ca-certificates,git --architectures="$architecture"
[ "$(uname -m)-$architecture" != x86_64-arm64 ] || use_cross_compiler
# How this machine reaches the network, also through a proxy with a certificate of its own.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
rm -rf --one-file-system "$root/src/lookout"
git clone --quiet --no-hardlinks . "$root/src/lookout"
exec unshare --mount "$0" --enter "$suite" "$root" "$command"
