#!/usr/bin/python3
"""lookout doctor --bundle: what is in the file, and that no secret is. LOOKOUT_PROGRAM: the program."""

import hashlib
import io
import os
import pathlib
import socket
import stat
import subprocess
import tarfile
import tempfile
import threading
import unittest

PROGRAM = os.environ["LOOKOUT_PROGRAM"]
ENTRIES = [
    "README.txt", "version.txt", "doctor.txt", "doctor.json", "system.txt", "configuration.txt",
    "models.txt", "cameras.txt", "journal.txt", "kernel.txt", "metrics.txt",
]  # fmt: skip


class BundleTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "report.tar.gz"

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def program(self, *arguments, **variables):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LOOKOUT_")}
        return subprocess.run(
            [PROGRAM, "doctor", *arguments], capture_output=True, timeout=300,
            env={**environment, **variables}, check=False,
        )  # fmt: skip

    def bundle(self, config, **variables):
        path = self.write("lookout.toml", config)
        done = self.program("--config", str(path), "--bundle", str(self.file), **variables)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done, self.entries(self.file.read_bytes())

    @staticmethod
    def entries(archive):
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            return {
                member.name.partition("/")[2]: tar.extractfile(member).read().decode()
                for member in tar
            }

    def test_it_has_what_others_need(self):
        done, entries = self.bundle('[camera]\nsource = "test://all"\nname = "front"\n')
        self.assertEqual(list(entries), ENTRIES)
        self.assertIn("camera.name = front", entries["configuration.txt"])
        self.assertIn("camera.source = test://all", entries["configuration.txt"])
        self.assertIn(str(self.folder / "lookout.toml"), entries["configuration.txt"])
        self.assertIn("lookout run would", entries["doctor.txt"])
        self.assertRegex(entries["version.txt"], r"^lookout \d")
        self.assertIn("kernel: ", entries["system.txt"])
        self.assertIn("MemTotal", entries["system.txt"])
        self.assertRegex(entries["models.txt"], r"[0-9a-f]{64}")
        listed = done.stdout.decode()
        for name in ENTRIES:
            self.assertRegex(listed, rf"\d+  {name}\n")
        self.assertIn("look at it before you send it", listed)
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)

    def test_no_secret_is_in_it(self):
        secrets = [
            "mqttuser1", "urltoken77", "camerapass3", "tokenfile-secret-4", "passwordfile-5",
            "webhooktoken7", "Bearerish88", "querypart9", "environmentpw10", "watchsecret12",
            "pushoverkey15",
        ]  # fmt: skip
        token = self.write("token", "tokenfile-secret-4\n")
        password = self.write("password", "passwordfile-5\n")
        config = f"""
[camera]
source = "rtsp://viewer:camerapass3@192.0.2.7:554/stream?key=querypart9"
[http]
address = "127.0.0.1:0"
token-file = "{token}"
[mqtt]
url = "mqtt://house@192.0.2.9"
password-file = "{password}"
[webhook]
url = "https://192.0.2.8/messages"
form = ["user: pushoverkey15"]
[events]
on-change = "curl -H 'Authorization: Bearer Bearerish88' https://urltoken77@192.0.2.8/api/webhook/webhooktoken7"
[watch.gate]
on-change = "notify --to watchsecret12"
"""
        journal = self.write(
            "journalctl",
            "#!/bin/sh\necho 'camera rtsp://viewer:camerapass3@192.0.2.7/stream is away'\n"
            "echo 'curl: Authorization: Bearer loggedtoken13 refused, password=loggedpw14'\n"
            "echo 'the command was given webhooktoken7'\n",
        )
        journal.chmod(0o755)
        secrets += ["loggedtoken13", "loggedpw14"]
        _, entries = self.bundle(
            config,
            PATH=f"{self.folder}:{os.environ['PATH']}",
            LOOKOUT_MQTT_URL="mqtt://mqttuser1@192.0.2.9",
            LOOKOUT_BROKER_PASSWORD="environmentpw10",
        )
        for name, text in entries.items():
            for secret in secrets:
                self.assertNotIn(secret, text, name)
        self.assertIn("camera rtsp://***@192.0.2.7/stream is away", entries["journal.txt"])
        self.assertIn("the command was given ***", entries["journal.txt"])
        configuration = entries["configuration.txt"]
        self.assertIn(f"http.token-file = {token}", configuration)
        self.assertIn(f"mqtt.password-file = {password}", configuration)
        self.assertIn("camera.source = rtsp://***@192.0.2.7:554/stream?***", configuration)
        self.assertIn("mqtt.url = mqtt://***@192.0.2.9", configuration)
        self.assertIn("events.on-change = curl ***", configuration)
        self.assertIn("LOOKOUT_BROKER_PASSWORD\n", configuration)

    def test_nothing_is_left_when_it_fails(self):
        done = self.program("--config", "", "--bundle", str(self.folder / "none" / "x.tar.gz"))
        self.assertIn(done.returncode, (66, 74, 77), done.stderr.decode())
        self.assertEqual(list(self.folder.iterdir()), [])
        done = self.program("--config", "", "test://all", "--bundle", str(self.folder))
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(list(self.folder.iterdir()), [])
        # Without gzip there is no archive, and the one before stays.
        self.file.write_text("the one before")
        done = self.program(
            "--config", "", "test://all", "--bundle", str(self.file), PATH=str(self.folder)
        )
        self.assertEqual(done.returncode, 70, done.stderr.decode())
        self.assertEqual(self.file.read_text(), "the one before")
        self.assertEqual([path.name for path in self.folder.iterdir()], [self.file.name])

    def test_a_file_is_replaced_and_stdout_is_a_file_too(self):
        self.file.write_text("the one before")
        self.bundle('[camera]\nsource = "test://all"\n')
        done = self.program("--config", "", "test://all", "--bundle", "-")
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(list(self.entries(done.stdout)), ENTRIES)
        self.assertIn(b"look at it before you send it", done.stderr)

    def with_server(self, config, allowed):
        """The entries of a configuration, which has `address` for a server that lets in who is `allowed`."""
        requests = []
        with socket.create_server(("127.0.0.1", 0)) as server:
            def answer():
                client, _ = server.accept()
                with client:
                    requests.append(client.recv(4096).decode())
                    status = "200 OK" if allowed in requests[0] else "401 Unauthorized"
                    client.sendall(f"HTTP/1.0 {status}\r\n\r\nlookout_camera_up 1\n".encode())

            thread = threading.Thread(target=answer, daemon=True)
            thread.start()
            address = f'address = "127.0.0.1:{server.getsockname()[1]}"'
            _, entries = self.bundle(config.replace("address", address))
            thread.join()
        return entries

    def test_the_trace_and_the_figures_of_a_service_are_in_it(self):
        trace = self.write("trace.json", '{"traceEvents":[]}')
        entries = self.with_server(
            f'[camera]\nsource = "test://all"\n[profile]\ntrace = "{trace}"\n[http]\naddress\n', ""
        )
        self.assertEqual(entries["metrics.txt"], "lookout_camera_up 1\n")
        self.assertEqual(entries["trace.json"], '{"traceEvents":[]}')

    @unittest.skipIf(os.path.exists("/run/systemd/system"), "secrets go to a service that runs alone")
    def test_a_server_that_lets_in_nobody_lets_in_its_owner(self):
        token = self.write("token", "token-of-service\n")
        password_hash = "$y$j9T$salt$hash"
        password = self.write("password", password_hash + "\n")
        for file in (token, password):
            file.chmod(0o600)
        key = hashlib.sha256(f"lookout metrics\n{password_hash}".encode()).hexdigest()
        for setting, bearer in (
            (f'token-file = "{token}"', "token-of-service"),
            (f'password-file = "{password}"', key),
        ):
            config = f'[camera]\nsource = "test://all"\n[http]\naddress\n{setting}\n'
            entries = self.with_server(config, f"\r\nAuthorization: Bearer {bearer}\r\n")
            self.assertEqual(entries["metrics.txt"], "lookout_camera_up 1\n")
            for name, text in entries.items():
                self.assertNotIn(bearer, text, name)


if __name__ == "__main__":
    unittest.main()
