#!/bin/bash
# Makes the package lookout-archive-keyring, by which a board trusts the APT repository at URL:
#
#   archive-keyring.sh URL VERSION OUT KEYRING...
#
# KEYRING is a file of `gpg --export FINGERPRINT`; there are two while one key takes the place of another: the
# package with both is released before the second one signs, and both sign (apt-repository.sh) until every board
# had time to take it. Writes OUT/lookout-archive-keyring_VERSION_all.deb: the keys, and a script that writes
# /etc/apt/sources.list.d/lookout.sources for the system's release. That file is the owner's once it was
# edited or removed, and no upgrade asks about it.
#
# Exit status: 64 usage, 65 a file that has no keys.
set -euo pipefail
umask 022

fail() {
  echo "archive-keyring.sh: $2" >&2
  exit "$1"
}

case ${1-} in
-h | --help)
  sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
  exit
  ;;
esac
[ $# -ge 4 ] || fail 64 'expected URL VERSION OUT KEYRING...; --help tells more'
url=$1 version=$2 out=$3
shift 3
case $url in
http://* | https://* | file:/*) ;;
*) fail 64 "$url: expected https://HOST/FOLDER" ;;
esac
case $version in
[0-9]*) ;;
*) fail 64 "$version: expected a version, as in 2026.1" ;;
esac
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
name=lookout-archive-keyring
share=usr/share/$name
mkdir -p "$tree/DEBIAN" "$tree/usr/share/keyrings" "$tree/$share"

for file in "$@"; do
  keys=$(gpg --batch --with-colons --show-keys "$file" 2>/dev/null) || fail 65 "$file has no keys of gpg"
  ! grep -q '^sec' <<<"$keys" || fail 65 "$file has a secret key: gpg --export FINGERPRINT writes the public one"
  grep -q '^pub' <<<"$keys" || fail 65 "$file has no keys of gpg"
  cat "$file"
done >"$tree/usr/share/keyrings/$name.pgp"

cat >"$tree/$share/lookout.sources" <<END
# Of the package $name. Edited, this file stays as it is.
Types: deb
URIs: $url
Suites: @SUITE@
Components: main
Signed-By: /usr/share/keyrings/$name.pgp
END
cat >"$tree/DEBIAN/control" <<END
Package: $name
Version: $version
Architecture: all
Section: misc
Priority: optional
Maintainer: lookout maintainers <maintainers@lookout.invalid>
Description: keys and address of the APT repository of lookout
 With this package, apt installs lookout and its upgrades.
END
cat >"$tree/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
sources=$DPKG_ROOT/etc/apt/sources.list.d/lookout.sources
state=$DPKG_ROOT/var/lib/lookout-archive-keyring
if [ -e "$state/written" ] || [ -e "$sources" ]; then
  cmp -s "$state/written" "$sources" || exit 0  # the owner's
fi
suite=$(. "$DPKG_ROOT/etc/os-release" && echo "${VERSION_CODENAME-}")
case $suite in
bookworm | trixie) ;;
*)
  echo "lookout-archive-keyring: there are no packages for '$suite': $sources names trixie" >&2
  suite=trixie
  ;;
esac
mkdir -p "$state" "${sources%/*}"
sed "s/@SUITE@/$suite/" "$DPKG_ROOT/usr/share/lookout-archive-keyring/lookout.sources" >"$state/written"
cp "$state/written" "$sources"
END
cat >"$tree/DEBIAN/postrm" <<'END'
#!/bin/sh
set -e
case $1 in
remove | purge) ;;
*) exit 0 ;;
esac
sources=$DPKG_ROOT/etc/apt/sources.list.d/lookout.sources
state=$DPKG_ROOT/var/lib/lookout-archive-keyring
# Without the keys apt would refuse an address that stayed.
if cmp -s "$state/written" "$sources"; then rm -f "$sources" "$state/written"; fi
[ "$1" = remove ] && exit 0
rm -rf "$state" "$sources"
END
chmod 755 "$tree/DEBIAN/postinst" "$tree/DEBIAN/postrm"
deb=$out/${name}_${version}_all.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$deb" >/dev/null
sha256sum "$deb"
