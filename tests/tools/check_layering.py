#!/usr/bin/python3
"""Who may include whom: app -> platform -> pipeline, and between the folders inside them.

    check_layering.py ROOT

A folder that is not in the table below is an error: a new one says here what it may include. The
library of an engine stays in the engine's folder, in .cpp files and headers that nobody else includes,
and nobody else includes the folder; OpenCV's devices, windows and files stay in platform/.

A header that one file alone includes, and no test, belongs into that file, unless ONE_USER says why not.

Sessions of ONNX Runtime are made in few files, all with lookout's settings: without them, scores are
wrong on processors that the author of a test may not have.
"""

import collections
import os
import pathlib
import re
import sys

# What the folder of each engine may include.
MAY_ENGINES = {
    "pipeline/archive",
    "pipeline/core",
    "pipeline/model",
    "pipeline/profile",
    "pipeline/run",
    "pipeline/training",
}
# Folder -> folders whose headers it may include, besides its own. A folder stands for itself alone, not
# for those in it. Each comes after those that it includes, so that there is no way back.
ALLOWED = {
    "pipeline/core": set(),
    "pipeline/archive": {"pipeline/core"},
    "pipeline/model": {"pipeline/archive", "pipeline/core"},
    "pipeline/results": {"pipeline/core"},
    "pipeline/profile": {"pipeline/core", "pipeline/results"},
    "pipeline/training": {"pipeline/archive", "pipeline/core", "pipeline/model"},
    "pipeline/run": {
        "pipeline/archive",
        "pipeline/core",
        "pipeline/model",
        "pipeline/profile",
        "pipeline/results",
        "pipeline/training",
    },
    "pipeline/onnx": MAY_ENGINES,
    "pipeline/torch": MAY_ENGINES,
    "platform/libcamera": set(),
    "platform/pictures": {"pipeline/core", "pipeline/model"},
    "platform/system": {"pipeline/core", "pipeline/results"},
    "platform/cameras": {
        "pipeline/core",
        "platform/libcamera",
        "platform/pictures",
        "platform/system",
    },
    "platform/decoder": {"pipeline/core", "platform/pictures", "platform/system"},
    "platform/metrics": {"pipeline/core", "pipeline/results", "pipeline/run", "platform/system"},
    "platform/predict": {"pipeline/core", "pipeline/run", "platform/decoder", "platform/pictures"},
    "platform/reporters": {"pipeline/core", "pipeline/results", "platform/system"},
    "platform/gpio": {"pipeline/core", "platform/reporters"},
    "platform/webhook": {
        "pipeline/core",
        "pipeline/model",
        "platform/pictures",
        "platform/reporters",
        "platform/system",
    },
    "platform/history": {
        "pipeline/core",
        "pipeline/model",
        "pipeline/run",
        "platform/pictures",
        "platform/reporters",
        "platform/system",
    },
    "platform/teach": {
        "pipeline/archive",
        "pipeline/core",
        "pipeline/model",
        "pipeline/run",
        "pipeline/training",
        "platform/pictures",
        "platform/system",
    },
    "platform/http": {
        "pipeline/core",
        "pipeline/model",
        "pipeline/results",
        "pipeline/run",
        "platform/decoder",
        "platform/history",
        "platform/metrics",
        "platform/pictures",
        "platform/predict",
        "platform/system",
        "platform/teach",
    },
    "platform/mqtt": {
        "pipeline/core",
        "pipeline/model",
        "pipeline/results",
        "platform/pictures",
        "platform/system",
    },
    "platform/overlay": {"pipeline/core", "pipeline/model", "pipeline/results", "platform/system"},
    "platform/sources": {
        "pipeline/core",
        "platform/cameras",
        "platform/decoder",
        "platform/pictures",
        "platform/system",
    },
    "app/options": {
        "pipeline/archive",
        "pipeline/core",
        "pipeline/model",
        "pipeline/results",
        "pipeline/run",
        "platform/cameras",
        "platform/gpio",
        "platform/http",
        "platform/mqtt",
        "platform/reporters",
        "platform/sources",
        "platform/system",
        "platform/teach",
        "platform/webhook",
    },
    "app/output": {
        "pipeline/results",
        "platform/reporters",
        "platform/system",
    },
    "app/report": {
        "app/options",
        "pipeline/core",
        "pipeline/results",
        "pipeline/training",
        "platform/reporters",
        "platform/sources",
        "platform/system",
    },
    "app/model": {
        "app/options",
        "app/report",
        "pipeline/archive",
        "pipeline/core",
        "pipeline/results",
        "pipeline/run",
        "pipeline/training",
        "platform/system",
    },
    "app/run": {
        "app/model",
        "app/options",
        "app/output",
        "app/report",
        "pipeline/core",
        "pipeline/profile",
        "pipeline/results",
        "pipeline/run",
        "platform/gpio",
        "platform/history",
        "platform/http",
        "platform/mqtt",
        "platform/overlay",
        "platform/reporters",
        "platform/sources",
        "platform/system",
        "platform/teach",
        "platform/webhook",
    },
    "app/bench": {
        "app/model",
        "app/options",
        "app/report",
        "pipeline/archive",
        "pipeline/core",
        "pipeline/results",
        "pipeline/run",
        "platform/sources",
        "platform/system",
    },
    "app/dataset": {
        "app/options",
        "app/report",
        "pipeline/core",
        "pipeline/training",
        "platform/sources",
        "platform/system",
    },
    "app/collect": {
        "app/dataset",
        "app/options",
        "pipeline/core",
        "platform/pictures",
        "platform/reporters",
        "platform/sources",
    },
    "app/history": {"app/options", "pipeline/core", "platform/history"},
    "app/eval": {
        "app/dataset",
        "app/model",
        "app/options",
        "app/report",
        "pipeline/core",
        "pipeline/results",
        "pipeline/run",
        "platform/sources",
        "platform/system",
    },
    "app/inspect": {
        "app/model",
        "app/options",
        "app/report",
        "pipeline/archive",
        "pipeline/core",
        "pipeline/results",
        "pipeline/run",
        "platform/cameras",
        "platform/gpio",
        "platform/http",
        "platform/mqtt",
        "platform/reporters",
        "platform/sources",
        "platform/system",
        "platform/teach",
    },
    "app/install": {
        "app/model",
        "app/options",
        "app/report",
        "app/run",
        "pipeline/archive",
        "pipeline/core",
        "pipeline/training",
        "platform/http",
        "platform/mqtt",
        "platform/pictures",
        "platform/sources",
        "platform/system",
        "platform/webhook",
    },
    "app/trace": {
        "app/options",
        "app/report",
        "pipeline/core",
        "pipeline/profile",
        "pipeline/results",
        "platform/system",
    },
    "app/train": {
        "app/dataset",
        "app/model",
        "app/options",
        "app/report",
        "pipeline/archive",
        "pipeline/core",
        "pipeline/model",
        "pipeline/run",
        "pipeline/training",
        "platform/pictures",
        "platform/sources",
        "platform/system",
        "platform/teach",
    },
    "app": {
        "app/bench",
        "app/collect",
        "app/eval",
        "app/history",
        "app/inspect",
        "app/install",
        "app/options",
        "app/output",
        "app/run",
        "app/trace",
        "app/train",
        "pipeline/core",
        "platform/system",
    },
}
TOPS = ("app", "platform", "pipeline")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
DEVICES = re.compile(r"opencv2/(videoio|imgcodecs|highgui)")
# Folders of engines -> the headers of their libraries.
ENGINES = {
    "pipeline/torch": re.compile(r"(torch|ATen|c10|caffe2)/"),
    "pipeline/onnx": re.compile(r"onnxruntime_"),
}
# Headers that include an engine's library, for the .cpp files of their folders alone.
ENGINES_HEADERS = {
    "pipeline/onnx/onnx_embedder.h",
    "pipeline/onnx/onnx_inference.h",
    "pipeline/onnx/onnx_numbers.h",
    "pipeline/onnx/onnx_operators.h",
    "pipeline/onnx/onnx_session.h",
    "pipeline/onnx/onnx_trace.h",
    "pipeline/torch/call_observer.h",
    "pipeline/torch/device_plugin.h",
    "pipeline/torch/torch_backbone.h",
    "pipeline/torch/torch_device.h",
    "pipeline/torch/torch_embedder.h",
    "pipeline/torch/torch_graph.h",
    "pipeline/torch/torch_inference.h",
    "pipeline/torch/torch_network.h",
}
# Headers with one user -> why they are files of their own.
ONE_USER = {
    "app/bench/measure.h": "what runs in the process of a combination",
    "app/inspect/device_report.h": "a part of the report that has its own source of figures",
    "app/inspect/masking.h": "what strangers may see, with a contract",
    "app/inspect/model_code.h": "two commands in one: --code and --graph",
    "app/inspect/service_metrics.h": "a client of a server, with a contract",
    "app/inspect/service_view.h": "a part of the checks that is about a unit",
    "app/options/value.h": "the values of settings.h, through which everybody has them",
    "app/report/style.h": "CSS",
    "pipeline/model/yuv_scaler.h": "the way of one kind of pictures, with a contract",
    "pipeline/profile/stage_mark.h": "reads the clocks of a thread for Trace",
    "pipeline/run/capture.h": "a thread with a contract",
    "pipeline/torch/operator_sampling.h": "a listener of LibTorch's calls with a contract",
    "platform/http/http_pages.h": "its .cpp is made by CMake",
    "platform/teach/teach_error.h": "what all of the folder throw, through teach_library.h",
    "platform/http/teach_json.h": "what the routes of teaching say, apart from what they do",
    "platform/teach/trash_clock.h": "how trash ages, apart from what is kept",
    "platform/teach/watch_rules.h": "what a watch may be, apart from how it is kept",
    "platform/sources/video_source.h": "the module lookout-video is loaded by its name",
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
    return target == folder or target in ALLOWED[folder]


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


def backward_rows():
    """Yields a sentence for each row of the table that names a folder below it."""
    seen = set()
    for folder, allowed in ALLOWED.items():
        for target in sorted(allowed - seen):
            yield f"check_layering.py: {folder} may include {target}, which is not above it"
        seen.add(folder)


def headers_with_one_user():
    """Yields a sentence for each header that belongs into the one file that includes it."""
    users = collections.defaultdict(set)
    for path in files_of((*TOPS, "models", "tests"), (".h", ".cpp")):
        for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
            users[header].add(path.with_suffix(""))
    for path in files_of(TOPS, (".h",)):
        others = users[str(path)] - {path.with_suffix("")}
        is_command = others == {pathlib.Path("app/main")}
        if len(others) > 1 and str(path) in ONE_USER:
            yield f"check_layering.py: ONE_USER names {path}, which several files include"
        if len(others) <= 1 and not is_command and str(path) not in ONE_USER:
            whose = ", ".join(f"{other}.*" for other in others) or "nobody"
            yield f"{path} is included by {whose} alone: join them, or say in ONE_USER why not"
    for name in sorted(set(ONE_USER) - {str(path) for path in files_of(TOPS, (".h",))}):
        yield f"check_layering.py: ONE_USER names {name}, which is not there"


def unused_rows():
    """Yields a sentence for each folder of the table that nobody includes; engines share a row."""
    used = collections.defaultdict(set)
    for path in files_of(TOPS, (".h", ".cpp")):
        for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
            used[str(path.parent)].add(header.rsplit("/", 1)[0])
    for folder, allowed in ALLOWED.items():
        if folder not in ENGINES:
            for target in sorted(allowed - used[folder]):
                yield f"check_layering.py: {folder} may include {target}, and does not"


def check():
    """Yields a sentence for each problem of the tree in the current folder."""
    yield from sessions()
    yield from backward_rows()
    yield from headers_with_one_user()
    yield from unused_rows()
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
