#!/bin/bash
# Fetches packages that are to be installed in a guest while it runs, with what they depend on and it lacks.
#
#   get-packages.sh GUEST FOLDER PACKAGE...
#
# GUEST    a folder of make-guest.sh
# FOLDER   gets the packages' files
# PACKAGE  NAME/SUITE or NAME/SUITE-backports; fetched also when the guest has it
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,/^set -euo/s/^# \{0,1\}//p' "$0"; exit 64; }
guest=$1 folder=$2
shift 2
read -r suite arch _ < "$guest/stamp"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$folder" "$work/lists/partial" "$work/archives/partial"
/sbin/debugfs -R 'cat /var/lib/dpkg/status' "$guest/root.img" 2> /dev/null > "$work/status"
"$(dirname "$0")/../../toolchains/mirrors.sh" "$suite" |
  sed "s/^\(.*\) $suite main$/&\n\1 $suite-backports main/" > "$work/sources.list"
cat > "$work/apt.conf" << END
Dir::State "$work"; Dir::State::status "$work/status"; Dir::Cache "$work";
Dir::Etc::SourceList "$work/sources.list"; Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null"; Dir::Etc::PreferencesParts "/dev/null";
Dir::Etc::Trusted "/usr/share/keyrings/debian-archive-keyring.gpg";
APT::Architecture "$arch"; APT::Architectures { "$arch"; }; APT::Sandbox::User "root";
Acquire::Languages "none"; Acquire::Retries "3";
END
export APT_CONFIG=$work/apt.conf
apt-get -qq update
apt-get -qq install --yes --download-only --reinstall --no-install-recommends "$@"
mv "$work"/archives/*.deb "$folder"
