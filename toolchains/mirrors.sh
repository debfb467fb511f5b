#!/bin/sh
# Prints the apt sources of another Debian release on the mirrors that this machine uses: mirrors.sh SUITE
# shellcheck disable=SC2016  # a format that apt-get expands
set -eu
suite=$1
sources=$(apt-get indextargets --format '$(CODENAME) $(REPO_URI)' \
    'Created-By: Packages' 'Origin: Debian' 'Component: main' |
  sed -n -E "s,^[a-z]+(-updates|-security)? (.*),deb \2 $suite\1 main,p" |
  sort -u)
case $sources in
*" $suite main"*) echo "$sources" ;;
*)
  echo "apt's lists name no Debian mirror: try apt-get update" >&2
  exit 1
  ;;
esac
