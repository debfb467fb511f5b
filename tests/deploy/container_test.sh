#!/bin/bash
# Builds the image of deploy/Containerfile with buildah, without a daemon and without namespaces of containers (chroot
# isolation), and runs it: with ONNX Runtime, and with LibTorch.
#
#   container_test.sh [FOLDER]
#
# FOLDER has the packages, by default build/native (deploy/package.sh --native). An image for another processor than this
# machine's is emulated, by binfmt.sh. The image's base is made by mmdebstrap, so that no registry is needed, and kept in
# LOOKOUT_CACHE. Needs root; exit status 77 without it, buildah or the packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath "${1:-build/native}")
limit_onnx=120 limit_torch=320 # MB

skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || skip 'only root can make a root'
for program in buildah mmdebstrap unshare curl jq; do
  command -v $program >/dev/null || skip "there is no $program"
done
program=$(find "$folder" -maxdepth 1 -name 'lookout_*.deb' -print -quit)
[ -n "$program" ] || skip "no packages in $folder: deploy/package.sh --native makes them"
case $program in
*+deb12_*) suite=bookworm ;;
*) suite=trixie ;;
esac
architecture=$(dpkg-deb -f "$program" Architecture)
case $architecture in
arm64) tests/vm/binfmt.sh aarch64 ;;
*) tests/vm/binfmt.sh x86_64 ;;
esac

work=$(mktemp -d)
buildah() { command buildah --storage-driver vfs --root "$work/storage" --runroot "$work/run" "$@"; }
cleanup() {
  buildah rm --all >/dev/null 2>&1 || :
  rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# The packages alone: the folder of a build is large.
mkdir "$work/packages"
cp "$folder"/lookout*.deb "$work/packages"
cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
base_tar=$cache/container-base-$suite-$architecture.tar
make_base() {
  toolchains/make-root.sh "$suite" "$work/base" --variant=apt --architectures="$architecture" \
    --include=debian-archive-keyring,usr-is-merged --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*'
  rm -rf "$work/base"/var/lib/apt/lists/* "$work/base"/var/cache/apt/*
  mkdir -p "$cache"
  tar -C "$work/base" -cf "$base_tar.new" .
  mv "$base_tar.new" "$base_tar"
  rm -rf --one-file-system "$work/base"
}
[ -e "$base_tar" ] || make_base
base=$(buildah from --arch "$architecture" scratch)
buildah add "$base" "$base_tar" / >/dev/null
buildah commit --quiet "$base" localhost/base >/dev/null
buildah rm "$base" >/dev/null

megabytes() { # of the image's files
  local container mount
  container=$(buildah from --arch "$architecture" "$1")
  mount=$(buildah mount "$container")
  echo $(($(du -s --apparent-size -B1 -x "$mount" | cut -f 1) / 1000000))
  buildah rm "$container" >/dev/null
}
echo "base: $(megabytes localhost/base) MB"

# build TAG LIMIT ENGINE
build() {
  local size
  buildah bud --arch "$architecture" --isolation chroot --format docker --layers=false --quiet -f deploy/Containerfile \
    --build-arg BASE=localhost/base --build-arg "ENGINES=$3" -t "$1" "$work/packages" >"$work/log" 2>&1 ||
    fail "$1 was not built: $(cat "$work/log")"
  size=$(megabytes "$1")
  buildah push --quiet "$1" "docker-archive:$work/$1.tar" >/dev/null 2>&1 || :
  echo "$1: $size MB, packed $(($(gzip -c "$work/$1.tar" | wc -c) / 1000000)) MB"
  rm -f "$work/$1.tar"
  [ "$size" -le "$2" ] || fail "$1 has $size MB, more than $2"
}

# classify TAG: the image's program, as the image's user, names patterns.
classify() {
  local container
  container=$(buildah from --arch "$architecture" "$1")
  buildah run --isolation chroot "$container" -- sh -c 'id -u' >"$work/out"
  [ "$(cat "$work/out")" != 0 ] || fail "$1 runs as root"
  buildah run --isolation chroot "$container" -- lookout test://all -t 5s >"$work/out" 2>"$work/err" ||
    fail "$1: $(cat "$work/err")"
  [ "$(wc -l <"$work/out")" -gt 10 ] || fail "$1 wrote $(cat "$work/out")"
  buildah rm "$container" >/dev/null
  echo "$1: $(wc -l <"$work/out") results"
}

build onnx $limit_onnx lookout-onnxruntime
classify onnx
if [ -n "$(find "$folder" -maxdepth 1 -name "lookout-torch_*_$architecture.deb")" ]; then
  build torch $limit_torch lookout-torch
  classify torch
fi

buildah inspect --type image onnx | jq .Docker.config >"$work/config"
settings=$(jq -c '[.User, (.ExposedPorts | keys), .Entrypoint, .Healthcheck.Test[:2]]' "$work/config")
[ "$settings" = '["lookout",["8090/tcp"],["lookout"],["CMD","bash"]]' ] || fail "the image's settings: $settings"
jq -r '.Healthcheck.Test[3]' "$work/config" >"$work/health"
mapfile -t command < <(jq -r '.Cmd[]' "$work/config")

# With a network of its own: no other program has the port there. The command of the image watches patterns.
container=$(buildah from --arch "$architecture" onnx)
mount=$(buildah mount "$container")
mkdir -p "$mount/run/secrets"
echo 'a token of sixteen' >"$mount/run/secrets/lookout-token"
chmod 444 "$mount/run/secrets/lookout-token"
cp "$work/health" "$mount/tmp/health"
export -f buildah
export work
# shellcheck disable=SC2016  # another shell expands it
unshare --net bash -euc '
  ip link set lo up
  container=$1
  shift
  buildah run --isolation chroot --env LOOKOUT_CAMERA_SOURCE=test://all "$container" -- lookout "$@" >"$work/out" 2>"$work/err" &
  healthy() { buildah run --isolation chroot "$container" -- bash /tmp/health; }
  for try in $(seq 120); do
    ! healthy || break
    [ "$try" != 120 ] || { cat "$work/err"; exit 1; }
    sleep 0.5
  done 2>"$work/health.err"
  code() { curl -s -o /dev/null -w "%{http_code}\n" --noproxy "*" "$@" http://127.0.0.1:8090/state; }
  [ "$(code)" = 401 ]
  [ "$(code -H "Authorization: Bearer a token of sixteen")" = 200 ]
  kill -INT $(pgrep -x lookout --ns $$ --nslist net)
  wait
  if healthy 2>/dev/null; then exit 1; fi
' bash "$container" "${command[@]}" || fail "the image's command: $(tail -n 5 "$work/err" "$work/health.err")"
echo 'the page asks for its token, /healthz does not'
