#!/bin/sh
# Makes the models of the package lookout-base: MobileNetV2 of 8 bits for both engines, to be taught from.
#
#   base.sh [--weights FILE] FOLDER   writes FOLDER/base.pt and FOLDER/base.onnx
#
# The weights are those that torchvision publishes (MobileNet_V2_Weights.IMAGENET1K_V1), downloaded once into
# ${LOOKOUT_CACHE}, or lookout/ of ${XDG_CACHE_HOME} or ~/.cache. FILE is that file, had from elsewhere. Files
# with another SHA-256 are refused: the package tells what is in it. models/export.py makes models of them.
# LOOKOUT_WEIGHTS_URL, if set, is the folder of a mirror. PYTHON, if set, is a Python with Debian's packages and
# those of models/onnx_format/requirements.txt, which otherwise is made. Does nothing when the models are up
# to date.
set -eu

url=https://download.pytorch.org/models/mobilenet_v2-b0353104.pth
sha256=b03531047ffacf1e2488318dcd2aba1126cde36e3bfe1aa5cb07700aeeee9889
usage='base.sh [--weights FILE] FOLDER'

given=
case ${1-} in
-h | --help)
  sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0"
  exit
  ;;
--weights)
  given=${2-}
  [ -n "$given" ] || { echo "base.sh: --weights takes a file: $usage" >&2; exit 64; }
  shift 2
  given=$(realpath -ms "$given")
  ;;
esac
is_folder=$#
case ${1-} in -* | '') is_folder=0 ;; esac
[ "$is_folder" = 1 ] || { echo "base.sh: one folder is needed: $usage" >&2; exit 64; }
folder=$(realpath -ms "$1")
cd "$(dirname "$0")/.."

is_published() { echo "$sha256  $1" | sha256sum --check --status 2>/dev/null; }

if [ -n "$given" ] && ! is_published "$given"; then
  [ -r "$given" ] || { echo "base.sh: cannot read the weights $given" >&2; exit 66; }
  echo "base.sh: $given is not the file that torchvision publishes (SHA-256 $sha256); models/export.py makes a model of other weights" >&2
  exit 65
fi

deploy/install-deps.sh --models
cache=${LOOKOUT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lookout}
weights=$cache/${url##*/}
stamp=$({
  cat deploy/base.sh models/*.py models/onnx_format/*.py models/onnx_format/requirements.txt
  dpkg-query -W python3-numpy python3-torch python3-torchvision
} | sha256sum | cut -c 1-64)
[ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ] || exit 0
mkdir -p "$cache" "$folder"

python=${PYTHON-}
if [ -z "$python" ]; then
  python=$cache/python-for-onnx/bin/python
  requirements=$(sha256sum <models/onnx_format/requirements.txt)
  if [ "$(cat "$cache/python-for-onnx/stamp" 2>/dev/null)" != "$requirements" ]; then
    /usr/bin/python3 -m venv --clear --system-site-packages "$cache/python-for-onnx"
    "$python" -m pip install --quiet --disable-pip-version-check -r models/onnx_format/requirements.txt
    echo "$requirements" >"$cache/python-for-onnx/stamp"
  fi
fi

# The name of the file gets into the models.
fetch='
import sys
sys.path.insert(0, "models")
import failure, weights
try:
    weights.fetch(*sys.argv[1:])
except failure.Failure as error:
    print(f"base.sh: {error}", file=sys.stderr)
    sys.exit(error.status)
'
if ! is_published "$weights"; then
  if [ -n "$given" ]; then
    cp "$given" "$weights"
  else
    [ -z "${LOOKOUT_WEIGHTS_URL-}" ] || url=${LOOKOUT_WEIGHTS_URL%/}/${url##*/}
    "$python" -c "$fetch" "$url" "$weights" "$sha256"
  fi
fi

# For the same bytes each time: one thread adds numbers in one order, and TorchScript writes sets of names in
# the order of their hashes.
export OMP_NUM_THREADS=1 PYTHONHASHSEED=0
new=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
"$python" models/export.py --weights "$weights" -o "$new/base.pt" >/dev/null
"$python" models/export.py --weights "$weights" --format onnx -o "$new/base.onnx" >/dev/null
chmod 644 "$new"/base.*
mv "$new"/base.* "$folder"
echo "$stamp" >"$folder/stamp"
