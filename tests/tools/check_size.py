#!/usr/bin/python3
"""Checks the limits of size: functions, files and folders.

    check_size.py ROOT

A function has at most 80 lines and a cyclomatic complexity of at most 15, a file at most 600 lines, a
folder at most 30 files, where x.h and x.cpp count as one. Functions are measured by lizard, which is
installed into the cache, see pypi_program.py. Exit status 77 (skipped) where it cannot be.
"""

import collections
import pathlib
import subprocess
import sys

import pypi_program

LIZARD = "lizard==1.24.3"
FOLDERS = ("app", "models", "pipeline", "platform", "tests")
SOURCES = {".c", ".cpp", ".css", ".h", ".html", ".js", ".py", ".sh"}
MAX_FUNCTION_LINES, MAX_COMPLEXITY, MAX_FILE_LINES, MAX_FILES = 80, 15, 600, 30


def check_functions(lizard, root):
    """Yields a sentence for each function that is too long or too complex."""
    limits = ["-L", str(MAX_FUNCTION_LINES), "-C", str(MAX_COMPLEXITY)]
    done = subprocess.run(
        [lizard, "--warnings_only", *limits, *FOLDERS],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    yield from done.stdout.splitlines()
    if done.returncode not in (0, 1):
        yield f"lizard ended with {done.returncode}: {done.stderr}"


def check_files(root, files):
    """Yields a sentence for each file that is too long, and each folder that holds too many."""
    folders = collections.defaultdict(set)
    for file in files:
        pair = file.suffix in (".h", ".cpp")
        folders[file.parent].add(file.stem if pair else file.name)
        if file.suffix in SOURCES:
            with open(root / file, encoding="utf-8") as text:
                lines = sum(1 for _ in text)
            if lines > MAX_FILE_LINES:
                yield f"{file} has {lines} lines; {MAX_FILE_LINES} are allowed"
    for folder, names in sorted(folders.items()):
        if len(names) > MAX_FILES:
            yield f"{folder}/ holds {len(names)} files; {MAX_FILES} are allowed"


def files_of(root):
    command = ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run([*command, *FOLDERS], capture_output=True, text=True, check=True)
    return [file for name in listed.stdout.splitlines() if (root / (file := pathlib.Path(name))).exists()]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    problems = list(check_files(root, files_of(root)))
    skipped = None
    try:
        problems += check_functions(pypi_program.install(LIZARD, "lizard"), root)
    except pypi_program.Unavailable as reason:
        skipped = reason
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    print(f"skipped: functions: {skipped}" if skipped else "sizes: clean")
    return 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
