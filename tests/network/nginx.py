"""nginx as the reverse proxy that deploy/nginx.conf describes."""

import contextlib
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "deploy/nginx.conf"
PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
LIMIT = 60  # s, to listen
SERVER = """
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  # So large that streams would never come through them.
  proxy_buffer_size 1m;
  proxy_buffers 4 1m;
  proxy_busy_buffers_size 2m;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    {location}
  }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """Has `target` under the path /cam/front/: "http://unix:PATH:/", or an address as "http://127.0.0.1:8090/".

    `replaced`: texts of answers, and what comes in their place."""

    def __init__(self, target, replaced=None):
        self.folder = tempfile.TemporaryDirectory()
        self.port = free_port()
        location, count = re.subn(r"http://unix:[^:]+:/", target, EXAMPLE.read_text())
        assert count == 1, count
        config = pathlib.Path(self.folder.name, "nginx.conf")
        lines = [f"sub_filter '{old}' '{new}';" for old, new in (replaced or {}).items()]
        if lines:
            lines += ["sub_filter_types *;", "sub_filter_once off;"]
        location = "\n    ".join([location, *lines])
        config.write_text(SERVER.format(folder=self.folder.name, port=self.port, location=location))
        self.process = subprocess.Popen([PROGRAM, "-c", config, "-e", f"{self.folder.name}/error.log"])
        self.url = f"http://127.0.0.1:{self.port}/cam/front/"
        end = time.monotonic() + LIMIT
        while not self.listens():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"nginx does not listen: {self.errors()}")
            time.sleep(0.05)

    def listens(self):
        with contextlib.suppress(ConnectionError):
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        return False

    def errors(self):
        file = pathlib.Path(self.folder.name, "error.log")
        return file.read_text() if file.exists() else ""

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()
