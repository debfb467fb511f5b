#!/usr/bin/python3
"""Attacks on lookout's HTTP server: none shuts out another client, none takes memory.

  attacks_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout. Everything is on loopback; each attack is bounded in bytes and clients.
The attacker comes from 127.0.0.1, the other client from 127.0.0.2.
"""

import contextlib
import random
import socket
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from served import ServedTest, wait_for  # noqa: E402

HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"
FORM = b"Content-Type: multipart/form-data; boundary=x\r\n"
REQUESTS = 2000


def with_mistakes(request, chooser):
    data = bytearray(request)
    for _ in range(chooser.randrange(1, 5)):
        at = chooser.randrange(len(data))
        piece = bytes(data[at : at + chooser.randrange(1, 9)])
        some = bytes(chooser.choice(b"\0\t\r\n :;=&%/-\"0\x7f\xff") for _ in range(chooser.randrange(1, 5)))
        data[at : at + chooser.choice((0, 0, len(piece)))] = chooser.choice((piece * 20, some, b""))
    return bytes(data)


class AttacksTest(ServedTest):
    def pour(self, head, piece, megabytes):
        """Sends `piece` again and again, until the server ends it; returns the status it gave."""
        client = self.connect()
        with contextlib.suppress(ConnectionError):
            client.sendall(head)
            for _ in range(megabytes * 1_000_000 // len(piece)):
                client.sendall(piece)
        with contextlib.suppress(ConnectionError):
            answer = client.recv(100)
            return int(answer.split()[1]) if answer else 0
        return 0

    # A client that sends on after the answer may not get to see it: status 0.

    def test_chunked_body_without_end(self):
        chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
        head = HEAD + b"Content-Type: image/jpeg\r\nTransfer-Encoding: chunked\r\n\r\n"
        self.assertIn(self.pour(head, chunk, 256), (413, 0))
        self.expect_unharmed()

    def test_negative_chunk(self):
        head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n"
        self.assertEqual(self.pour(head, b"a", 0), 400)
        self.expect_unharmed()

    def test_million_header_lines(self):
        self.assertIn(self.pour(HEAD, b"A: b\r\n" * 10_000, 6), (431, 0))
        self.expect_unharmed()

    def test_endless_line(self):
        self.assertIn(self.pour(b"GET /", b"a" * 100_000, 256), (431, 0))
        self.expect_unharmed()

    def send_form(self, body):
        head = HEAD + FORM + f"Content-Length: {len(body)}\r\n\r\n".encode()
        client = self.connect()
        client.sendall(head + body)
        return int(client.recv(100).split()[1])

    def test_many_parts(self):
        part = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n"
        self.assertEqual(self.send_form(part * 60_000 + b"--x--"), 400)
        self.expect_unharmed()

    def test_many_headers_of_a_part(self):
        self.assertEqual(self.send_form(b"--x\r\n" + b"A: b\r\n" * 500_000 + b"\r\n\r\n--x--"), 400)
        self.expect_unharmed()

    def test_clients_that_drip(self):
        clients = [self.connect() for _ in range(64)]
        for byte in HEAD[:20]:
            for client in clients:
                with contextlib.suppress(ConnectionError):
                    client.send(bytes([byte]))
        self.expect_unharmed()

    def test_bodies_that_drip(self):
        clients = [self.connect() for _ in range(64)]
        for client in clients:
            with contextlib.suppress(ConnectionError):
                client.sendall(HEAD + b"Content-Length: 8000000\r\n\r\na")
        self.expect_unharmed()

    def test_empty_chunked_bodies(self):
        for _ in range(8):
            self.connect().sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        self.expect_unharmed()

    def test_bodies_that_stop_at_their_end(self):
        """Eight times 7 MB, of which 8 MB are kept."""
        for _ in range(8):
            with contextlib.suppress(ConnectionError):
                self.connect().sendall(HEAD + b"Content-Length: 8000000\r\n\r\n" + bytes(7_000_000))
        self.expect_unharmed()

    def test_idle_clients(self):
        for _ in range(100):
            self.connect()
        self.expect_unharmed()

    def test_viewers_that_do_not_read(self):
        for _ in range(12):
            self.connect().sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.expect_unharmed()

    def test_viewers_that_read(self):
        clients = [self.connect() for _ in range(12)]
        for client in clients:
            client.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        statuses = [int(client.recv(100).split()[1]) for client in clients]
        self.assertEqual(statuses.count(200), 8)
        self.expect_unharmed()

    def test_requests_with_mistakes(self):
        """Bytes of good requests changed, left out, repeated or put in, by a seed."""
        chooser = random.Random(1)
        body = b"--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n\xff\xd8\xff\r\n--x--\r\n"
        good = [
            HEAD + FORM + b"Content-Length: %d\r\n\r\n" % len(body) + body,
            HEAD + FORM + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n",
            b"GET /stream?fps=2&a HTTP/1.1\r\nHost: [::1]:80\r\nAuthorization: Basic YTpi\r\n\r\n",
            b"HEAD /state HTTP/1.1\r\nHost: a.local.\r\nOrigin: http://b\r\nConnection: keep-alive\r\n\r\n",
        ]
        statuses = set()
        for _ in range(REQUESTS):
            client = self.connect()
            with contextlib.suppress(ConnectionError), client:
                client.sendall(with_mistakes(chooser.choice(good), chooser))
                client.shutdown(socket.SHUT_WR)
                statuses.add(client.recv(100)[9:12])
        self.assertLessEqual({b"200", b"400", b"404", b"405", b"421"}, statuses)
        self.assertNotIn(b"500", statuses)
        self.expect_unharmed()

    def test_pictures_that_are_bombs(self):
        """32000x32000 pixels, which a decoder would take 3 GB for."""
        bomb = b"\xff\xd8\xff\xc0\x00\x11\x08\x7d\x00\x7d\x00\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01"
        scan = b"\xff\xda\x00\x0c\x03\x01\x00\x02\x00\x03\x00\x00\x3f\x00"
        self.assertEqual(self.upload(bomb + scan)[0], 413)
        self.assertEqual(self.upload(bomb)[0], 422)  # its header is cut
        self.expect_unharmed()


class GuessesTest(ServedTest):
    token = "0123456789abcdef"

    def setUp(self):
        file = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".token"))
        file.write(self.token)
        file.flush()
        self.options = ("--set", f"http.token-file={file.name}")
        super().setUp()

    def ask(self, path, method="GET", body=None, headers=None):
        authorization = {"Authorization": f"Bearer {self.token}"}
        return super().ask(path, method, body, {**(headers or {}), **authorization})

    def status(self, token):
        """Of the attacker."""
        client = self.connect()
        head = f"GET /state HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
        client.sendall(head.encode())
        return int(client.recv(100).split()[1])

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            _, self.log = self.process.communicate()
            self.assertEqual(self.process.returncode, 0)

    def test_the_log_names_who_guesses_once(self):
        statuses = [self.status(f"guess {i}") for i in range(200)]
        self.assertEqual(statuses[:10], [401] * 10)
        self.assertEqual(statuses[-1], 429)
        self.expect_unharmed()
        wait_for("its turn", lambda: self.status(self.token) == 200)
        self.end()
        lines = [line.split("http: ")[1] for line in self.log.splitlines() if "127.0.0.1 is" in line]
        self.assertEqual(
            lines,
            [
                "127.0.0.1 is refused: too many wrong tokens came from there",
                "127.0.0.1 is let in again: its token is right",
            ],
        )


if __name__ == "__main__":
    unittest.main()
