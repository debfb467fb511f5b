"""Programs and files of PyPI, each package in an environment of its own in the cache: LOOKOUT_CACHE, or
lookout/ of XDG_CACHE_HOME or ~/.cache."""

import os
import pathlib
import subprocess


class Unavailable(Exception):
    pass


def install(package, name):
    """The program `name` of a package such as "lizard==1.24.3". Raises Unavailable."""
    return find_or_install([package], f"bin/{name}")


def install_file(package, name):
    """The file `name` of a package, "module/file.js". Raises Unavailable."""
    return find_or_install([package], f"lib/python3*/site-packages/{name}", pip_options=["--no-deps"])


def python_with(requirements):
    """A Python that has Debian's packages and those of a requirements.txt. Raises Unavailable."""
    lines = pathlib.Path(requirements).read_text(encoding="utf-8").splitlines()
    packages = [line for line in lines if "==" in line]
    last = packages[-1].replace("==", "-")
    found = find_or_install(
        packages,
        f"lib/python3*/site-packages/{last}.dist-info",
        venv_options=["--system-site-packages"],
        pip_options=["--requirement", str(requirements)],
    )
    return found.parents[3] / "bin" / "python"


def find_or_install(packages, pattern, venv_options=(), pip_options=()):
    cache = os.environ.get("LOOKOUT_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lookout"
    )
    folder = pathlib.Path(cache) / "-".join(packages).replace("==", "-")
    if found := list(folder.glob(pattern)):
        return found[0]
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--retries", "1"]
    for command in (
        ["/usr/bin/python3", "-m", "venv", "--clear", *venv_options, str(folder)],
        [*pip, *pip_options, *packages],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            names = " ".join(packages)
            raise Unavailable(f"{names} of PyPI cannot be installed: {lines[-1]}")
    return next(folder.glob(pattern))
