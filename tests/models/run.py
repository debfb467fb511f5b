#!/usr/bin/python3
"""Runs the tests of models/.

    /usr/bin/python3 tests/models/run.py [NAME...]    NAME: as in export_test.CalibrationTest

Needs (Debian 12): python3-torch python3-torchvision python3-pil python3-numpy libopenblas0
Where they are missing the tests are skipped (exit status 77).
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    sys.path.insert(0, HERE)
    try:
        import testing  # noqa: F401
    except unittest.SkipTest as missing:
        print(f"skipped: {missing}")
        return 77
    loader = unittest.TestLoader()
    if sys.argv[1:]:
        tests = loader.loadTestsFromNames(sys.argv[1:])
    else:
        tests = loader.discover(HERE, "*_test.py")
    return 0 if unittest.TextTestRunner().run(tests).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
