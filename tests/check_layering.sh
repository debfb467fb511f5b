#!/bin/sh
# app includes platform includes pipeline, never the other way; LibTorch stays in its few files.
#
#   check_layering.sh ROOT
set -eu
cd "$1"
status=0

# forbid FOLDER PATTERN: no file of FOLDER may include what matches.
forbid() {
  if grep -nE "^ *# *include *[<\"]($2)" "$1"/*.h "$1"/*.cpp; then
    echo "$1/ must not include that" >&2
    status=1
  fi
}

forbid pipeline '(platform|app|tests)/|opencv2/(videoio|imgcodecs|highgui)'
libtorch='torch/|ATen/|c10/|pipeline/torch_graph\.h'
forbid platform "(app|tests)/|$libtorch"
forbid app "tests/|$libtorch"

# torch_graph.h is for torch_*.cpp, where nobody else sees it.
torch=$(grep -lE '^ *# *include *[<"](torch|ATen|c10)/' pipeline/*.h pipeline/*.cpp |
  grep -vE '^pipeline/((torch_[a-z_]*|operator_profile)\.cpp|torch_graph\.h)$' || true)
if [ -n "$torch" ]; then
  echo "LibTorch belongs to pipeline/torch_*.cpp and operator_profile.cpp alone, not to: $torch" >&2
  status=1
fi
exit $status
