#!/bin/bash
# Makes a Debian 13 root with Home Assistant and mosquitto, or finds it in the cache: home-assistant-VERSION beside
# make-sysroot.sh's. It takes 1.5 GB and some minutes. Prints its path. Needs root, HOME, Debian's
# packages and PyPI; exits with 77 where they cannot be reached.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=2026.2.3 # the last one for Debian 13's Python
# What its integrations import, but it does not install by itself when its own network is off.
also=(paho-mqtt==2.1.0 numpy==2.3.2 av==16.0.1 PyTurboJPEG==1.8.0 mutagen==1.47.0)

cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
root=$cache/home-assistant-$version

# Runs in a mount namespace of its own: whatever is mounted here goes with it.
if [ "${1-}" = --install ]; then
  mount -t proc proc "$2/proc"
  mount --rbind /dev "$2/dev"
  exec chroot "$2" sh -ec "
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
    python3 -m venv /srv/ha
    /srv/ha/bin/pip install --quiet --retries 1 uv
    /srv/ha/bin/uv pip install --quiet --python /srv/ha/bin/python homeassistant==$version ${also[*]}"
fi

[ ! -x "$root/srv/ha/bin/hass" ] || {
  echo "$root"
  exit
}
new=$root.new
trap 'rm -rf --one-file-system "$new"' EXIT
rm -rf --one-file-system "$new"
packages=ca-certificates,python3,python3-venv,python3-dev,gcc,g++,libffi-dev,libssl-dev,libjpeg-dev,zlib1g-dev,libturbojpeg0,mosquitto
toolchains/make-root.sh trixie "$new" --variant=minbase --include=$packages || exit 77
cp -L /etc/resolv.conf "$new/etc/resolv.conf"
cp -L /etc/ssl/certs/ca-certificates.crt "$new/etc/ssl/certs/ca-certificates.crt"
unshare --mount "$0" --install "$new" >&2 || exit 77
mv "$new" "$root"
echo "$root"
