"""A run of the program at which owners log in, for tests of what only they may do."""

import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import tempfile

from served import LOOKOUT, PATIENCE, ServedTest

PASSWORD = "correct horse"
RIGHT = json.dumps({"password": PASSWORD})


class OwnerTest(ServedTest):
    """A run at which owners log in, with a state folder of its own."""

    source = "test://all?fps=20"
    more_options = ()

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        folder = holder.name
        self.folder = pathlib.Path(folder)
        self.password = self.folder / "lookout.password"
        self.settings = ("--set", f"http.password-file={self.password}")
        self.options = (*self.settings, "--set", "http.teach=true", *self.more_options)
        self.set_password(PASSWORD)
        before = os.environ.get("STATE_DIRECTORY")
        os.environ["STATE_DIRECTORY"] = folder
        self.addCleanup(self.set_state_folder, before)
        super().setUp()

    @staticmethod
    def set_state_folder(value):
        if value is None:
            os.environ.pop("STATE_DIRECTORY", None)
        else:
            os.environ["STATE_DIRECTORY"] = value

    def set_password(self, password, *flags):
        return subprocess.run(
            [LOOKOUT, "password", *flags, *self.settings],
            input=password + "\n", text=True, capture_output=True, check=False,
        )  # fmt: skip

    def headers(self, **changed):
        headers = {
            "Host": "localhost:{}", "Origin": "http://localhost:{}", "X-Lookout": "1",
            "Content-Type": "application/json",
        }  # fmt: skip
        headers.update({name.replace("_", "-"): value for name, value in changed.items()})
        return {name: text.format(self.port) for name, text in headers.items() if text is not None}

    def post(self, path, body, headers=None, address="127.0.0.2"):
        """Status, code of an error, and the cookie that is set."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=PATIENCE, source_address=(address, 0)
        )
        with contextlib.closing(connection):
            connection.request("POST", path, body, headers or self.headers())
            answer = connection.getresponse()
            content = json.loads(answer.read())
            cookie = answer.headers.get("Set-Cookie", "").split(";")[0]
            return answer.status, content.get("error", {}).get("code"), cookie

    def log_in(self, body=RIGHT, address="127.0.0.2"):
        return self.post("/api/1/login", body, address=address)

    def role(self, cookie=""):
        status, body = self.ask("/api/1/session", headers={"Cookie": cookie})
        self.assertEqual(status, 200)
        return json.loads(body)["role"]
