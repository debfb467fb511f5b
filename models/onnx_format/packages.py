"""Whether the packages are there that ONNX needs."""

from failure import NO_INPUT, Failure


def check():
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise Failure(
            NO_INPUT,
            f"--format onnx needs packages of PyPI ({error}): run /usr/bin/python3 -m venv "
            "--system-site-packages DIR and DIR/bin/pip install -r "
            "models/onnx_format/requirements.txt, and use DIR/bin/python",
        ) from error
