"""Networks as ONNX models, which ONNX Runtime runs.

The rest of models/ imports the modules of this package for `--format onnx` alone: Debian has none of
the packages that they need.
"""
