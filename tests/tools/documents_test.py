#!/usr/bin/python3
"""Runs the commands of the documents: each block ```sh of each .md file of the checkout.

    documents_test.py PROGRAM [PAGE...]

The blocks of a page run one after the other, in a folder that has the files that they name. Test patterns
stand in for cameras, and addresses are those of this machine. Each command must succeed. A block that cannot
be run by a build machine has one of REASONS in the line before it:

    <!-- not run: needs root -->
"""

import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from check_links import documents_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?:<!-- not run: (.*) -->\n)?```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
LANGUAGES = {"sh", "text", "json", "yaml", "toml", "ini"}
REASONS = {
    "another test runs it",
    "needs a camera on the network",
    "needs a cluster",
    "needs a custom device",
    "needs Docker",
    "needs a Raspberry Pi",
    "needs root",
    "needs the network",
    "takes minutes",
}
PATIENCE = 300  # s, for a block on a busy machine; exit status 124
CAMERA = "'test://{}?noise=20&size=320x240&frames=20'"
SERVER = "127.0.0.1:8090"  # the test takes a free port
STAND_INS = [
    (r"build/host/app/lookout", "lookout"),
    (r"/dev/video0(?= \S+ --label closed)", CAMERA.format("cross")),
    (r"/dev/video0", CAMERA.format("checkers")),
    (r"\blookout collect", "lookout collect --every 0"),
    (r"\blookout bench", "lookout bench -t 0 --frames 20"),
    (r"\blookout serve", f"lookout serve -t 1s --http {SERVER}"),
    (r"^curl ", f"lookout serve --http {SERVER} & trap 'kill $!' EXIT\ncurl "),
    (r"https://ntfy\.sh", "http://127.0.0.1:9"),
    (r"mqtt://broker", "mqtt://127.0.0.1:9"),
]
# Makes the pictures and the video that blocks name. curl waits for a server that starts.
PREPARATION = r"""
for class in 'color bars' cross; do
  lookout collect "test://${class/ /}?noise=20&frames=5" pictures --label "$class" --every 0
done
cp pictures/cross/*.jpg pictures
cp "$(find pictures -name '*.jpg' | head -n 1)" cat.jpg
cp -r pictures other-pictures
ffmpeg -v error -f lavfi -i testsrc=duration=1 film.mkv
printf '%s\n' fail retry=99 retry-connrefused retry-delay=1 >.curlrc
"""


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def fill(folder, program):
    """Puts the program, models and traces into the folder of a page."""
    (folder / "bin").mkdir()
    (folder / "bin/lookout").symlink_to(pathlib.Path(program).resolve())
    for name in ("mobilenet_v2.pt", "garage.pt", "a.pt", "b.pt"):
        shutil.copy(ROOT / "models/selftest.pt", folder / name)
    shutil.copy(ROOT / "models/onnx_format/selftest.onnx", folder / "net.onnx")
    (folder / "names.json").write_text(json.dumps([f"label {number}" for number in range(16)]))
    for name in ("porch.json", "garage.json", "before.json", "after.json"):
        shutil.copy(ROOT / "tests/data/trace.json", folder / name)


def problem_of(folder, commands):
    """Runs the commands in the folder. Returns None, or a text with what they printed when one failed."""
    ran = subprocess.run(
        ["timeout", "--kill-after=5", str(PATIENCE), "bash", "-euo", "pipefail", "-c", commands],
        cwd=folder, env={"HOME": folder, "PATH": f"{folder}/bin:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    output = ran.stdout.decode("utf-8", "replace")
    return f"exit status {ran.returncode}:\n{commands}{output}" if ran.returncode else None


def with_stand_ins(commands, port):
    for pattern, stand_in in STAND_INS:
        commands = re.sub(pattern, lambda _, text=stand_in: text, commands, flags=re.MULTILINE)
    return commands.replace(SERVER, f"127.0.0.1:{port}")


def mistake_in(language, reason):
    """A sentence about how a block is marked, or None."""
    if language not in LANGUAGES:
        return f"a block has the language '{language}', which is none of {sorted(LANGUAGES)}"
    if reason and (language != "sh" or reason not in REASONS):
        return f"'{reason}' is none of the reasons why commands are not run: {sorted(REASONS)}"
    return None


def check_page(page, program):
    """Yields, for each block, None or what is wrong with it."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for block in BLOCK.finditer(text):
            reason, language, commands = block.groups()
            problem = mistake_in(language, reason)
            if not problem and language == "sh" and not reason:
                if not (folder / "bin").exists():
                    fill(folder, program)
                    problem = problem_of(folder, PREPARATION)
                problem = problem or problem_of(folder, with_stand_ins(commands, free_port()))
            line = text.count("\n", 0, block.start(2)) + 1
            yield problem and f"{page}:{line}: {problem}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, *pages = sys.argv[1:]
    pages = [pathlib.Path(page) for page in pages] or documents_of(ROOT)
    found = [problem for page in pages for problem in check_page(page, program)]
    problems = list(filter(None, found))
    if not found:
        problems.append("no block was found")
    print("\n".join(problems) or f"documents: {len(found)} blocks are right")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
