#!/bin/sh
# Shows lookout at work, from nothing: installs what is missing, builds, and lets the self-test model
# watch the built-in test camera for 10 seconds. Each result names the pattern that is shown and the
# model's answer.
set -eu
cd "$(dirname "$0")/.."

deploy/install-deps.sh
[ -f build/host/build.ninja ] || cmake --preset host -DBUILD_TESTING=OFF
cmake --build --preset host --target lookout
echo
exec build/host/app/lookout run 'test://all?hold=18' --timeout 10s "$@"
