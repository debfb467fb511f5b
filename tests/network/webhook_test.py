#!/usr/bin/python3
"""Messages of the program to web servers: what they look like, and servers that fail in every way.

  webhook_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout and, for TLS, openssl. Everything is on loopback. The examples are those of
app/messages.md, sent to a stand-in.
"""

import contextlib
import email
import http.server
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOKOUT = os.environ.get("LOOKOUT_PROGRAM", ROOT / "build/host/app/lookout")
PATIENCE = 60  # s, on a busy machine
STATE = "checkers"  # the one state that test://checkers gets
SECRET = "a-secret-that-no-log-may-have"
EXAMPLE = re.compile(r"^```toml\n(\[webhook\]\n(?:.*\n)*?)```$", re.MULTILINE)


class StandIn:
    """A web server that keeps requests and answers each with the next of `answers`: a status, headers with it,
    or a function of the handler; 200 when there is none."""

    def __init__(self, *answers, context=None):
        self.answers = list(answers)
        self.requests = []
        self.arrived = threading.Condition()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                length = int(self.headers.get("Content-Length", 0))
                self.body = self.rfile.read(length)
                with outer.arrived:
                    answer = outer.answers.pop(0) if outer.answers else 200
                    outer.requests.append(self)
                    outer.arrived.notify_all()
                if callable(answer):
                    return answer(self)
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in {"Content-Length": "0", **headers}.items():
                    self.send_header(name, value)
                return self.end_headers()

            do_POST = do_PUT = do_GET = handle_any  # noqa: N815

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # the client has gone away

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def wait_for(self, requests):
        with self.arrived:
            if not self.arrived.wait_for(lambda: len(self.requests) >= requests, PATIENCE):
                raise AssertionError(f"{len(self.requests)} of {requests} requests within {PATIENCE} s")
            return self.requests


def form_of(request):
    """The parts of a form: name, type, content."""
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts = email.message_from_bytes(head + request.body).get_payload()
    names = [part.get_param("name", header="Content-Disposition") for part in parts]
    return [(name, part.get_content_type(), part.get_payload(decode=True)) for name, part in zip(names, parts)]


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


class WebhookTest(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))

    def serve(self, *answers, context=None):
        server = StandIn(*answers, context=context)
        self.stack.callback(server.close)
        return server

    def configure(self, text):
        path = self.folder / "lookout.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, text, *options, source=f"test://{STATE}?fps=20"):
        """A run with this configuration, whose lines are read one after the other. No proxy is asked."""
        config = self.configure(f'[camera]\nname = "front"\n[http]\naddress = ""\n{text}')
        process = subprocess.Popen(
            [LOOKOUT, source, "--config", config, "--threads", "1", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"},
        )  # fmt: skip
        self.stack.callback(process.kill)
        self.lines = []
        return process

    def wait_for_line(self, process, part):
        for line in process.stderr:
            self.lines.append(line)
            if part in line:
                return line
        raise AssertionError(f"no line has {part}:\n{''.join(self.lines)}")

    def end(self, process):
        """Returns what was logged."""
        process.terminate()
        _, rest = process.communicate(timeout=PATIENCE)
        self.lines.append(rest)
        log = "".join(self.lines)
        self.assertEqual(process.returncode, 0, log)
        self.assertNotIn(SECRET, log)
        return log

    def webhook(self, server, text="", path="/topic", scheme="http", host="127.0.0.1"):
        return f'[webhook]\nurl = "{scheme}://{host}:{server.port}{path}"\n{text}'

    # ---- Formats

    def sent_by(self, example):
        """The one request of a run with an example of the page, whose server and files are the test's."""
        server = self.serve()
        page = (ROOT / "app/messages.md").read_text(encoding="utf-8")
        found = [text for text in EXAMPLE.findall(page) if example in text]
        self.assertEqual(len(found), 1, example)
        text = re.sub(r'https?://[^/"]+', f"http://127.0.0.1:{server.port}", found[0])
        (self.folder / "webhook.url").write_text(
            f"http://127.0.0.1:{server.port}/bot{SECRET}/sendPhoto\n", encoding="ascii"
        )
        (self.folder / "webhook.headers").write_text(f"X-Gotify-Key: {SECRET}\n", encoding="ascii")
        for file in self.folder.iterdir():
            file.chmod(0o600)
        process = self.start(text.replace("/etc/lookout/", f"{self.folder}/"))
        request = server.wait_for(1)[0]
        log = self.end(process)
        self.assertIn("webhook: 1 message sent, 0 not sent, 0 requests failed", log)
        self.assertEqual(len(server.requests), 1)
        return request

    def test_ntfy_gets_text(self):
        request = self.sent_by('body = "{state}')
        self.assertEqual((request.command, request.path), ("POST", "/YOUR-TOPIC"))
        self.assertEqual(request.headers["Title"], "front")
        self.assertEqual(request.headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertRegex(request.headers["User-Agent"], "^lookout/[0-9]")
        self.assertEqual(request.body.decode(), f"{STATE}, was ")

    def test_ntfy_gets_a_picture(self):
        request = self.sent_by('picture = "body"')
        self.assertEqual((request.command, request.path), ("PUT", "/YOUR-TOPIC"))
        self.assertEqual(request.headers["Message"], f"{STATE}, was")
        self.assertEqual(request.headers["Filename"], "picture.jpg")
        self.assertEqual(request.headers["Content-Type"], "image/jpeg")
        self.assertTrue(request.body.startswith(b"\xff\xd8\xff") and request.body.endswith(b"\xff\xd9"))

    def test_gotify_gets_json_and_a_token(self):
        request = self.sent_by("gotify")
        self.assertEqual((request.command, request.path), ("POST", "/message"))
        self.assertEqual(request.headers["X-Gotify-Key"], SECRET)
        self.assertEqual(request.headers["Content-Type"], "application/json")
        self.assertEqual(
            json.loads(request.body), {"title": "front", "message": f"{STATE}, was ", "priority": 5}
        )

    def test_telegram_gets_a_form(self):
        request = self.sent_by("chat_id")
        self.assertEqual((request.command, request.path), ("POST", f"/bot{SECRET}/sendPhoto"))
        chat, caption, photo = form_of(request)
        self.assertEqual(chat, ("chat_id", "text/plain", b"42"))
        self.assertEqual(caption, ("caption", "text/plain", f"front: {STATE}".encode()))
        self.assertEqual(photo[:2], ("photo", "image/jpeg"))
        self.assertTrue(photo[2].startswith(b"\xff\xd8\xff") and photo[2].endswith(b"\xff\xd9"))

    def test_home_assistant_gets_json(self):
        request = self.sent_by("api/webhook")
        message = json.loads(request.body)
        self.assertRegex(message.pop("time"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$")
        self.assertGreater(message.pop("score"), 0.5)
        self.assertEqual(message, {"camera": "front", "watch": "", "state": STATE, "previous": ""})

    def test_a_label_cannot_leave_its_place(self):
        server = self.serve()
        labels = self.folder / "labels.json"
        labels.write_text(json.dumps([f'a "{number}" \\ {{camera}}\r\nX: 1' for number in range(16)]))
        process = self.start(
            self.webhook(server, "body = '{\"message\": \"now {state}\", \"state\": {state}}'\n"
                                 'headers = ["Title: {state}"]', path="/?state={state}"),
            "--labels", str(labels),
        )  # fmt: skip
        request = server.wait_for(1)[0]
        self.end(process)
        state = json.loads(request.body)["state"]
        self.assertRegex(state, r'^a "\d+" \\ \{camera\}\r\nX: 1$')
        self.assertEqual(json.loads(request.body)["message"], f"now {state}")
        self.assertEqual(request.headers["Title"], state.replace("\r\n", "  "))
        self.assertIsNone(request.headers["X"])
        self.assertRegex(request.path, r"^/\?state=a%20%22\d+%22%20%5C%20%7Bcamera%7D%0D%0AX%3A%201$")

    def test_get_sends_no_body(self):
        server = self.serve()
        process = self.start(self.webhook(server, 'method = "GET"', path="/relay?turn={state}"))
        request = server.wait_for(1)[0]
        self.end(process)
        self.assertEqual((request.command, request.path), ("GET", f"/relay?turn={STATE}"))
        self.assertEqual(request.body, b"")

    def test_each_watch_has_its_messages(self):
        server = self.serve()
        watches = '[watch.gate]\nroi = [0, 0, 0.5, 1]\n[watch.door]\nroi = [0.5, 0, 0.5, 1]\n'
        process = self.start(self.webhook(server) + "\n" + watches, source="test://colorsquares?fps=20")
        server.wait_for(2)
        self.end(process)
        names = {re.match("front, (.*):", request.body.decode())[1] for request in server.requests}
        self.assertEqual(names, {"gate", "door"})

    # ---- Servers that fail

    def test_what_failed_is_sent_again(self):
        server = self.serve(500, (503, {"Retry-After": "1"}), 429, 200)
        process = self.start(self.webhook(server))
        self.assertEqual(len({request.body for request in server.wait_for(4)}), 1)
        self.wait_for_line(process, "takes messages again")
        log = self.end(process)
        self.assertIn(f"webhook: 127.0.0.1:{server.port}: status 500; it is tried again", log)
        self.assertIn("webhook: 1 message sent, 0 not sent, 3 requests failed", log)

    def test_what_is_refused_is_not_sent_again(self):
        server = self.serve(403)
        process = self.start(self.webhook(server, path=f"/{SECRET}"))
        self.wait_for_line(process, "status 403; such a message is not sent again")
        self.assertIn("webhook: 0 messages sent, 1 not sent, 1 request failed", self.end(process))
        self.assertEqual(len(server.requests), 1)

    def test_a_redirection_is_not_followed(self):
        other = self.serve()
        server = self.serve((307, {"Location": f"http://127.0.0.2:{other.port}/{SECRET}"}))
        process = self.start(self.webhook(server, f'headers = ["Authorization: {SECRET}"]'))
        self.wait_for_line(process, "it redirects, which is not followed")
        self.end(process)
        self.assertEqual(other.requests, [])

    def test_a_server_that_comes_back_gets_the_message(self):
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", 0))  # and listens to nobody
            port = taken.getsockname()[1]
            process = self.start(f'[webhook]\nurl = "http://127.0.0.1:{port}/{SECRET}"')
            self.wait_for_line(process, "onnect to server; it is tried again")
            taken.listen()
            connection, _ = taken.accept()
            with connection:
                self.assertIn(f"front: {STATE}".encode(), connection.recv(65536))
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                self.wait_for_line(process, "takes messages again")
        self.end(process)

    def test_a_server_that_never_answers_holds_up_nothing(self):
        silence = threading.Event()
        self.stack.callback(silence.set)
        server = self.serve(lambda _: silence.wait(), 200)
        process = self.start(self.webhook(server, 'timeout = "300ms"'))
        server.wait_for(2)
        self.wait_for_line(process, "takes messages again")
        log = self.end(process)
        self.assertIn("webhook: 1 message sent, 0 not sent, 1 request failed", log)

    def test_the_end_of_a_run_does_not_wait_for_a_silent_server(self):
        silence = threading.Event()
        self.stack.callback(silence.set)
        server = self.serve(lambda _: silence.wait())
        process = self.start(self.webhook(server))
        server.wait_for(1)
        self.assertIn("webhook: 0 messages sent, 1 not sent, 0 requests failed", self.end(process))

    def test_an_endless_answer_is_cut_off(self):
        cut_off = threading.Event()

        def never_end(handler):
            handler.send_response(200)
            handler.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    handler.wfile.write(b"x" * 65536)
            cut_off.set()
            handler.close_connection = True

        server = self.serve(never_end)
        process = self.start(self.webhook(server))
        self.assertTrue(cut_off.wait(PATIENCE))
        log = self.end(process)
        self.assertIn("webhook: 1 message sent, 0 not sent, 0 requests failed", log)

    def test_an_answer_of_endless_headers_is_a_failure(self):
        def never_end(handler):
            with contextlib.suppress(OSError):
                handler.wfile.write(b"HTTP/1.1 ")
                while True:
                    handler.wfile.write(b"x" * 65536)

        server = self.serve(never_end, 200)
        process = self.start(self.webhook(server))
        server.wait_for(2)
        self.wait_for_line(process, "takes messages again")
        self.end(process)

    def test_the_certificate_is_verified(self):
        for name in ("right", "wrong"):
            openssl(self.folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                    f"/CN={name}", "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{name}.key",
                    "-out", f"{name}.pem")  # fmt: skip
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "right.pem", self.folder / "right.key")
        server = self.serve(context=context)

        def text(ca, host="localhost"):
            return self.webhook(server, ca and f'ca = "{self.folder}/{ca}.pem"', scheme="https", host=host)

        for config in (text(""), text("wrong"), text("right", "127.0.0.1")):
            process = self.start(config)
            line = self.wait_for_line(process, "it is tried again")
            self.assertRegex(line, "SSL")
            self.end(process)
        self.assertEqual(server.requests, [])
        process = self.start(text("right"))
        server.wait_for(1)
        self.assertIn("webhook: 1 message sent", self.end(process))

    # ---- Around it

    def test_metrics_count(self):
        server = self.serve(500, 200)
        process = self.start(self.webhook(server), "--set", "http.address=127.0.0.1:0")
        line = self.wait_for_line(process, " http: ")
        port = re.search(r":(\d+)/", line)[1]
        self.wait_for_line(process, "takes messages again")
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as client:
            client.request("GET", "/metrics")
            metrics = client.getresponse().read().decode()
        self.end(process)
        for name, value in (("messages", 1), ("failed", 1), ("dropped", 0)):
            self.assertIn(f'lookout_webhook_{name}_total{{camera="front"}} {value}\n', metrics)

    def ask(self, command, text):
        config = self.configure(text)
        source = ["test://checkers"] if command == "run" else ["--set", "camera.source=test://checkers"]
        done = subprocess.run(
            [LOOKOUT, command, *source, "--config", config],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        self.assertNotIn(SECRET, done.stdout + done.stderr)
        return done.returncode, done.stdout + done.stderr

    def test_doctor_and_start_find_what_is_wrong(self):
        url = f"https://127.0.0.1/{SECRET}"
        for text, status, sentence in (
            (f'[webhook]\nurl = "{url}"\nbody = "{{sate}}"', 78, "webhook.body: there is no {sate}"),
            (f'[webhook]\nurl = "{url}"\nbody = \'{{"a": \'', 78, "begins as JSON"),
            (f'[webhook]\nurl = "ftp://127.0.0.1/{SECRET}"', 78, "expected a URL"),
            (f'[webhook]\nurl = "{url}"\nurl-file = "x"', 78, "exclude each other"),
            ('[webhook]\nurl-file = "/missing"', 66, "webhook.url-file /missing cannot be read"),
            (f'[webhook]\nurl = "{url}"\nca = "/missing"', 66, "webhook.ca /missing cannot be read"),
            (f'[webhook]\nurl = "{url}"\nheaders-file = "/missing"', 66, "webhook.headers-file /missing"),
            ('[gpio]\nline = 17\nstates = ["open"]\nchip = "/missing"', 66, "gpio.chip /missing"),
            ('[gpio]\nline = 17\nstates = ["open"]\nchip = "/dev/null"', 78, "is no GPIO chip"),
            ("[gpio]\nline = 17", 78, "gpio.line needs gpio.states"),
            ('[gpio]\nline = 17\nstates = ["unknown"]', 78, "never active while the state is unknown"),
            ('[gpio]\nline = 17\nstates = ["a"]\nwatch = "gate"', 78, "there is no [watch.gate]"),
            ('[gpio]\nline = 17\nstates = ["a"]\n[watch.gate]', 78, "gpio.watch: name the watch"),
        ):
            with self.subTest(text):
                for command in ("run", "doctor"):
                    found, output = self.ask(command, text)
                    self.assertIn(sentence, output)
                    self.assertEqual(found, status, output)

    def test_doctor_sends_nothing(self):
        server = self.serve()
        status, output = self.ask("doctor", self.webhook(server))
        self.assertEqual(status, 0, output)
        self.assertRegex(output, "ok +webhook")
        self.assertEqual(server.requests, [])


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main(verbosity=2)
