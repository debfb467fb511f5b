# For scripts in this folder, which read it there: apt_of_suite SUITE ARCHITECTURE FOLDER prepares apt for another
# Debian release, or its backports, with a state of its own in FOLDER; apt then runs it there.
# shellcheck shell=sh

debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2034  # for apt
apt_of_suite() {
  apt_architecture=$2
  apt_folder=$3
  ./mirrors.sh "${1%-backports}" |
    sed -n "s,^deb \(.*\) ${1%-backports} main$,deb [signed-by=$debian_keyring] \1 $1 main,p" > "$3/sources.list"
  mkdir -p "$3/lists/partial" "$3/archives/partial" "$3/etc"
  apt update
}

# What it downloads goes into the current folder.
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$apt_folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
    -o Dir::State="$apt_folder" -o Dir::State::status=/dev/null -o Dir::Cache="$apt_folder" \
    -o APT::Architecture="$apt_architecture" -o APT::Architectures="$apt_architecture" \
    -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}
