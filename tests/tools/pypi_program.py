"""Programs and files of PyPI, each package in an environment of its own in the cache: LOOKOUT_CACHE, or
lookout/ of XDG_CACHE_HOME or ~/.cache."""

import os
import pathlib
import subprocess


class Unavailable(Exception):
    pass


def install(package, name):
    """The program `name` of a package such as "lizard==1.24.3". Raises Unavailable."""
    return find_or_install(package, f"bin/{name}", [])


def install_file(package, name):
    """The file `name` of a package, "module/file.js". Raises Unavailable."""
    return find_or_install(package, f"lib/python3*/site-packages/{name}", ["--no-deps"])


def find_or_install(package, pattern, options):
    cache = os.environ.get("LOOKOUT_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lookout"
    )
    folder = pathlib.Path(cache) / package.replace("==", "-")
    if found := list(folder.glob(pattern)):
        return found[0]
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--retries", "1"]
    for command in (
        ["/usr/bin/python3", "-m", "venv", "--clear", str(folder)],
        [*pip, *options, package],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            raise Unavailable(f"{package} of PyPI cannot be installed: {lines[-1]}")
    return next(folder.glob(pattern))
