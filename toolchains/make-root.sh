#!/bin/sh
# Makes a root of another Debian release, as this machine gets its own packages: from its mirrors, also through a proxy.
#
#   make-root.sh SUITE DIR [OPTION...]
#
# OPTIONs are mmdebstrap's. Where apt's lists name no Debian mirror, it is Debian's own. There is no DIR when it fails.
# Needs root, and Debian's packages mmdebstrap and debian-archive-keyring.
set -eu
suite=$1 root=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work" "$root.part"' EXIT
trap 'exit 1' HUP INT TERM
"$(dirname "$0")/mirrors.sh" "$suite" >"$work/sources.list" 2>/dev/null ||
  echo "deb http://deb.debian.org/debian $suite main" >"$work/sources.list"
apt-config dump | grep -E '^Acquire::(http|https|Retries|Check)' >"$work/apt.conf" || :
mkdir -p "$(dirname "$root")"
rm -rf --one-file-system "$root.part"
mmdebstrap --mode=root --quiet --keyring=/usr/share/keyrings/debian-archive-keyring.gpg --aptopt="$work/apt.conf" \
  "$@" "$suite" "$root.part" "$work/sources.list" >&2
mv "$root.part" "$root"
