#!/bin/sh
# Does a model keep up with a camera of 30 frames a second? Prints the summary of a run.
#
#   paced.sh [MODEL.pt [SECONDS [THREADS]]]     MODEL: default the self-test model
#
# A benchmark: the figures belong to this machine and to what else it is doing.
set -eu
cd "$(dirname "$0")/../.."
seconds=${2:-60}
set -- "${1:-models/selftest.pt}" "${3:-1}"
echo "$(uname -m), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); $1, threads: $2"
build/host/app/lookout run 'test://all?fps=30&size=640x480' --model "$1" --threads "$2" \
  --timeout "${seconds}s" --log-level off --format json | tail -n 1 | python3 -m json.tool
