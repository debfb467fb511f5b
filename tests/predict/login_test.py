#!/usr/bin/python3
"""Owners log in with a password; other pages, guessers and slow clients change nothing and hinder nobody.

  login_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout. Everything is on loopback, from several of its addresses.
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.dont_write_bytecode = True

from owner import PASSWORD, RIGHT, OwnerTest  # noqa: E402
from served import LOOKOUT, ServedTest, wait_for  # noqa: E402

WRONG = json.dumps({"password": "wrong horse"})
DRIPPING = 64
FLOOD = 200  # logins, from 20 addresses

# What pages send that are not this server's: all that differs from its own. `{}` is the port.
FOREIGN = {
    "another site": {"Origin": "http://evil.example"},
    "another port": {"Origin": "http://localhost:1"},
    "no port": {"Origin": "http://localhost"},
    "another scheme": {"Origin": "https://localhost:{}"},
    "another name of this machine": {"Origin": "http://127.0.0.1:{}"},
    "a longer name": {"Origin": "http://localhost.evil.example:{}"},
    "a sandboxed frame": {"Origin": "null"},
    "a file": {"Origin": "file://"},
    "no origin": {"Origin": None},
    "a form": {"Content-Type": "application/x-www-form-urlencoded"},
    "a form that looks like JSON": {"Content-Type": "text/plain"},
    "a request without preflight": {"X-Lookout": None},
    "a site that the browser names": {"Sec-Fetch-Site": "cross-site"},
    "a neighbour that the browser names": {"Sec-Fetch-Site": "same-site"},
    "a name that leads here": {"Host": "evil.example:{}", "Origin": "http://evil.example:{}"},
}


class LoginTest(OwnerTest):
    def test_the_password_makes_an_owner_of_a_guest_who_reads_as_before(self):
        self.assertEqual(self.role(), "guest")
        self.assertEqual(self.log_in(WRONG)[:2], (401, "wrong_password"))
        status, _, cookie = self.log_in()
        self.assertEqual(status, 200)
        self.assertEqual(self.role(cookie), "owner")
        for path in ("/", "/state", "/snapshot.jpg", "/metrics", "/healthz"):
            self.assertEqual(self.ask(path)[0], 200, path)
        self.assertEqual(self.post("/api/1/logout", "{}", {**self.headers(), "Cookie": cookie})[0], 200)
        self.assertEqual(self.role(cookie), "guest")

    def test_other_pages_change_nothing(self):
        cookie = self.log_in()[2]
        for what, changed in FOREIGN.items():
            for path, body in (("/api/1/login", RIGHT), ("/api/1/logout", "{}")):
                headers = {**self.headers(**changed), "Cookie": cookie}
                status, code, new = self.post(path, body, headers)
                self.assertIn(status, (403, 415, 421), f"{what}: {path} {code}")
                self.assertEqual(new, "", what)
        self.assertEqual(self.role(cookie), "owner")
        print(f"{len(FOREIGN)} kinds of other pages were refused")

    def test_a_restart_keeps_who_is_logged_in(self):
        cookie = self.log_in()[2]
        self.end()
        self.start()
        self.assertEqual(self.role(cookie), "owner")
        self.assertNotIn(cookie.split("=")[1], (self.folder / "sessions").read_text())

    def test_another_password_and_none_log_all_out_at_once(self):
        cookie = self.log_in()[2]
        self.assertEqual(self.set_password("another horse").returncode, 0)
        self.assertEqual(self.role(cookie), "guest")
        self.assertEqual(self.log_in()[:2], (401, "wrong_password"))
        cookie = self.log_in(json.dumps({"password": "another horse"}))[2]
        self.assertEqual(self.role(cookie), "owner")
        self.assertEqual(self.set_password("", "--remove").returncode, 0)
        self.assertEqual(self.role(cookie), "guest")
        self.assertEqual(self.log_in()[:2], (404, "no_password"))

    def test_a_flood_of_logins_hinders_no_owner(self):
        cookie = self.log_in(address="127.0.0.3")[2]
        statuses = []

        def flood(address):
            for _ in range(FLOOD // 20):
                statuses.append(self.log_in(WRONG, address)[0])

        threads = [
            threading.Thread(target=flood, args=(f"127.0.0.{100 + i}",)) for i in range(20)
        ]
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        answers = []
        while any(thread.is_alive() for thread in threads):
            asked = time.monotonic()
            self.assertEqual(self.role(cookie), "owner")
            answers.append(time.monotonic() - asked)
        for thread in threads:
            thread.join()
        took = time.monotonic() - begin
        self.assertEqual(len(statuses), FLOOD)
        self.assertLessEqual(set(statuses), {401, 429, 503})
        # 29 that are left, and one each 8 s.
        self.assertLessEqual(statuses.count(401), 30 + took / 8)
        print(
            f"{FLOOD} logins in {took:.1f} s: {statuses.count(401)} checked, {statuses.count(503)} found no"
            f" room, {statuses.count(429)} were too many; an owner waited at most {1000 * max(answers):.0f} ms"
        )
        self.expect_unharmed()

    def test_clients_that_drip_a_login_hinder_nobody(self):
        cookie = self.log_in()[2]
        head = "".join(f"{name}: {text}\r\n" for name, text in self.headers().items())
        clients = []
        for _ in range(DRIPPING):
            client = self.connect()
            with contextlib.suppress(ConnectionError):
                client.sendall(f"POST /api/1/login HTTP/1.1\r\n{head}Content-Length: 4000\r\n\r\n".encode())
            clients.append(client)
        for _ in range(20):
            for client in clients:
                with contextlib.suppress(ConnectionError):
                    client.send(b" ")
            self.assertEqual(self.role(cookie), "owner")
        self.assertEqual(self.log_in()[0], 200)
        self.open.close()
        wait_for("no client", lambda: self.count_sockets() == self.own_sockets)
        self.expect_unharmed()


class NoTeachTest(ServedTest):
    """As it is by default."""

    def test_there_is_no_login(self):
        for path in ("/api/1/login", "/api/1/logout", "/api/1/session"):
            for method in ("GET", "POST"):
                self.assertEqual(self.ask(path, method)[0], 404, path)


class PasswordTest(unittest.TestCase):
    def run_password(self, text, *flags):
        return subprocess.run(
            [LOOKOUT, "password", *flags], input=text, text=True, capture_output=True, check=False
        )

    def test_the_file_has_a_hash_and_is_nobody_elses(self):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "front.toml"
            config.write_text("[http]\nteach = true\n")
            file = pathlib.Path(folder) / "front.password"
            done = self.run_password(PASSWORD + "\n", "--config", config)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(str(file), done.stdout)
            self.assertRegex(file.read_text(), r"\A\$y\$\S+\n\Z")
            self.assertEqual(file.stat().st_mode & 0o007, 0)
            short = self.run_password("1234567\n", "--config", config)
            self.assertEqual(short.returncode, 64)
            self.assertIn("fewer than 8 characters; nothing was changed", short.stderr)
            self.assertEqual(self.run_password("", "--config", config).returncode, 64)
            self.assertRegex(file.read_text(), r"\A\$y\$")
            done = self.run_password("", "--remove", "--config", config)
            self.assertEqual(done.returncode, 0)
            self.assertFalse(file.exists())


if __name__ == "__main__":
    unittest.main()
