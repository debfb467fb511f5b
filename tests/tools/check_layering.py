#!/usr/bin/python3
"""Who may include whom: app -> platform -> pipeline, and between the folders inside them.

    check_layering.py ROOT

A folder that is not in the table below is an error: a new one says here what it may include. The
library of an engine stays in the engine's folder, in .cpp files and headers that nobody else includes,
and nobody else includes the folder; OpenCV's devices, windows and files stay in platform/.

Sessions of ONNX Runtime are made in few files, all with lookout's settings: without them, scores are
wrong on processors that the author of a test may not have.
"""

import os
import pathlib
import re
import sys

# Folder -> folders whose headers it may include, besides its own and, in pipeline/, the root's. A
# folder stands for itself alone, not for those in it; "pipeline/*" for all of pipeline/ but the engines.
ALLOWED = {
    "pipeline": {
        "pipeline/model",
        "pipeline/flow",
        "pipeline/results",
        "pipeline/profile",
        "pipeline/training",
    },
    "pipeline/model": set(),
    "pipeline/results": {"pipeline/model"},
    "pipeline/profile": {"pipeline/results"},
    "pipeline/flow": {"pipeline/model", "pipeline/results", "pipeline/profile"},
    "pipeline/torch": {
        "pipeline/model",
        "pipeline/results",
        "pipeline/profile",
        "pipeline/training",
    },
    "pipeline/onnx": {"pipeline/model", "pipeline/profile", "pipeline/training"},
    "pipeline/training": {"pipeline/model"},
    "platform/system": {"pipeline/*"},
    "platform/libcamera": set(),
    "platform/cameras": {"pipeline/*", "platform/libcamera", "platform/system", "platform/pictures"},
    "platform/pictures": {"pipeline/*", "platform/system"},
    "platform/decoder": {"pipeline/*", "platform/system", "platform/pictures"},
    "platform/sources": {
        "pipeline/*",
        "platform/system",
        "platform/cameras",
        "platform/decoder",
        "platform/pictures",
    },
    "platform/reporters": {"pipeline/*", "platform/system"},
    "platform/overlay": {"pipeline/*", "platform/system"},
    "platform/predict": {"pipeline/*", "platform/system", "platform/decoder", "platform/pictures"},
    "platform/metrics": {"pipeline/*", "platform/system"},
    "platform/http": {
        "pipeline/*",
        "platform/system",
        "platform/pictures",
        "platform/decoder", "platform/predict",
        "platform/metrics",
    },
    "platform/mqtt": {"pipeline/*", "platform/system", "platform/pictures"},
    "app": {"pipeline/*", "platform/*", "app/*"},
    "app/output": {"pipeline/*", "platform/*"},
    "app/options": {"pipeline/*", "platform/*"},
    "app/report": {"pipeline/*", "platform/*", "app/output"},
    "app/run": {"pipeline/*", "platform/*", "app/options", "app/output"},
    "app/bench": {"pipeline/*", "platform/*", "app/options", "app/output", "app/report", "app/run"},
    "app/eval": {"pipeline/*", "platform/*", "app/options", "app/output", "app/report", "app/run"},
    "app/train": {
        "pipeline/*",
        "platform/*",
        "app/options",
        "app/output",
        "app/report",
        "app/run",
        "app/eval",
    },
    "app/collect": {"pipeline/*", "platform/*", "app/options"},
    "app/trace": {"pipeline/*", "platform/*", "app/options", "app/output", "app/report"},
    "app/inspect": {"pipeline/*", "platform/*", "app/options", "app/output", "app/run"},
}
TOPS = ("app", "platform", "pipeline")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
DEVICES = re.compile(r"opencv2/(videoio|imgcodecs|highgui)")
# Folders of engines -> the headers of their libraries.
ENGINES = {
    "pipeline/torch": re.compile(r"(torch|ATen|c10|caffe2)/"),
    "pipeline/onnx": re.compile(r"onnxruntime_"),
}
# The top of pipeline/: the folders inside it must not include these.
TOP_HEADERS = {"pipeline/pipeline.h", "pipeline/open_model.h"}
# Headers that include an engine's library, for the .cpp files of their folders alone.
ENGINES_HEADERS = {
    "pipeline/onnx/onnx_numbers.h",
    "pipeline/onnx/onnx_operators.h",
    "pipeline/onnx/onnx_session.h",
    "pipeline/onnx/onnx_trace.h",
    "pipeline/torch/device_plugin.h",
    "pipeline/torch/live_bytes.h",
    "pipeline/torch/operands.h",
    "pipeline/torch/torch_backbone.h",
    "pipeline/torch/torch_device.h",
    "pipeline/torch/torch_device_calls.h",
    "pipeline/torch/torch_device_plugin.h",
    "pipeline/torch/torch_floats.h",
    "pipeline/torch/torch_graph.h",
    "pipeline/torch/torch_network.h",
    "pipeline/torch/torch_output.h",
}
# Makes a session of ONNX Runtime, or settings for one.
SESSION = re.compile(r"\bInferenceSession\(|\bSessionOptions(\(\)| \w+;)")
SESSIONS_FILES = {
    "models/onnx_format/model.py",
    "pipeline/onnx/onnx_session.cpp",
    "tests/bench/bare_session.cpp",
}


def may_include(path, folder, header):
    """Whether the file `path` of `folder` may include the project's `header`."""
    target = header.rsplit("/", 1)[0]
    if header in ENGINES_HEADERS:
        return folder == target and (path.suffix == ".cpp" or str(path) in ENGINES_HEADERS)
    if target in ENGINES and folder != target:
        return False
    if header in TOP_HEADERS and folder.startswith("pipeline/"):
        return False
    if target == folder or (target == "pipeline" and folder.startswith("pipeline/")):
        return True
    allowed = ALLOWED[folder]
    return target in allowed or f"{target.split('/')[0]}/*" in allowed


def problems_of(path, folder):
    """Yields a sentence for each include that goes the wrong way."""
    name = str(path)
    for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
        ours = header.split("/")[0] in (*TOPS, "tests")
        if ours and not may_include(path, folder, header):
            yield f"{name} must not include {header}"
        for engine, library in ENGINES.items():
            inside = folder == engine and (path.suffix == ".cpp" or name in ENGINES_HEADERS)
            if library.match(header) and not inside:
                yield f"{name} must not include {header}: it belongs to {engine}/*.cpp alone"
        if DEVICES.match(header) and folder.startswith("pipeline"):
            yield f"{name} must not include {header}: devices and files belong to platform/"


def files_of(tops, suffixes):
    return sorted(p for top in tops for p in pathlib.Path(top).rglob("*") if p.suffix in suffixes)


def sessions():
    """Yields a sentence for each file that makes sessions of its own."""
    for path in files_of((*TOPS, "models", "tests"), (".h", ".cpp", ".py")):
        if str(path) not in SESSIONS_FILES and SESSION.search(path.read_text(encoding="utf-8")):
            yield f"{path} must not make a session of ONNX Runtime: {sorted(SESSIONS_FILES)} do"


def check():
    """Yields a sentence for each problem of the tree in the current folder."""
    yield from sessions()
    for path in files_of(TOPS, (".h", ".cpp")):
        folder = str(path.parent)
        if folder in ALLOWED:
            yield from problems_of(path, folder)
        else:
            yield f"{path}: check_layering.py does not know the folder {folder}/"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.chdir(sys.argv[1])
    problems = list(check())
    print("\n".join(problems) or "layering: clean", file=sys.stderr if problems else sys.stdout)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
