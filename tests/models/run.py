#!/usr/bin/python3
"""Runs the tests of models/.

    /usr/bin/python3 tests/models/run.py [NAME...]    NAME: as in export_test.CalibrationTest

Needs (Debian 12): python3-torch python3-torchvision python3-pil python3-numpy libopenblas0
Where they are missing the tests are skipped (exit status 77).

Those of base_test and onnx_test need packages that Debian does not have. They are installed into the cache, see
tests/tools/pypi_program.py; where they cannot be, these tests are skipped (77, if the others pass).
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ONNX_TESTS = ("base_test", "onnx_test")
REQUIREMENTS = "../../models/onnx_format/requirements.txt"
SKIPPED = 77


def run(names):
    """The exit status of these tests."""
    tests = unittest.TestLoader().loadTestsFromNames(names)
    return 0 if unittest.TextTestRunner().run(tests).wasSuccessful() else 1


def run_with_onnx(names):
    """The same, in a Python that has the packages for ONNX."""
    if importlib.util.find_spec("onnxruntime"):
        return run(names)
    import pypi_program

    try:
        python = pypi_program.python_with(pathlib.Path(HERE, REQUIREMENTS))
    except pypi_program.Unavailable as reason:
        print(f"skipped: {' '.join(names)}: {reason}")
        return SKIPPED
    return subprocess.run([python, __file__, *names], check=False).returncode


def main():
    sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tools")]
    try:
        import testing  # noqa: F401
    except unittest.SkipTest as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    names = sys.argv[1:] or sorted(path.stem for path in pathlib.Path(HERE).glob("*_test.py"))
    onnx = [name for name in names if name.split(".")[0] in ONNX_TESTS]
    others = [name for name in names if name not in onnx]
    if not others:
        return run_with_onnx(onnx)
    if not onnx:
        return run(others)
    # Each keeps one processor busy. They run at the same time.
    with tempfile.TemporaryFile() as output:
        command = [sys.executable, __file__, *onnx]
        with subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT) as process:
            statuses = [run(others)]
        statuses.append(process.returncode)
        output.seek(0)
        sys.stdout.write(output.read().decode(errors="replace"))
    return max(statuses, key=(0, SKIPPED, 1).index)


if __name__ == "__main__":
    sys.exit(main())
