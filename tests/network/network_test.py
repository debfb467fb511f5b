#!/usr/bin/python3
"""lookout on cameras of the network: RTSP from GStreamer's server, HTTP from FFmpeg.

  network_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout, and what install-deps.sh --network installs. Everything is on loopback.
"""

import contextlib
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOOKOUT = ROOT / "build/host/app/lookout"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
LIMIT = 60  # s, for what should come at once


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Camera:
    """rtsp_camera.py in a process of its own."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            ["/usr/bin/python3", HERE / "rtsp_camera.py", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.port = int(self.process.stdout.readline())
        self.url = f"rtsp://127.0.0.1:{self.port}/stream"

    def obey(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.communicate()


class Run:
    """A run of the program, whose output is read as it comes."""

    def __init__(self, url, *options):
        self.lines = []
        self.log = []
        self.told = threading.Condition()
        self.process = subprocess.Popen(
            [LOOKOUT, "run", url, "--format", "json", "--threads", "1", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "no_proxy": "*"},
        )  # fmt: skip
        self.readers = [
            threading.Thread(target=self.read, args=(self.process.stdout, self.lines, json.loads)),
            threading.Thread(target=self.read, args=(self.process.stderr, self.log, str.strip)),
        ]
        for reader in self.readers:
            reader.start()

    def read(self, stream, lines, parse):
        for line in stream:
            with self.told:
                lines.append(parse(line))
                self.told.notify_all()

    def wait(self, what, condition):
        with self.told:
            if not self.told.wait_for(condition, LIMIT):
                raise AssertionError(f"{what} did not come; the log:\n" + "\n".join(self.log))

    def wait_for_label(self, label, after=0):
        """Waits for a result after that many lines."""
        self.wait(
            label,
            lambda: any(
                line["type"] == "classification" and line["results"][0]["label"] == label
                for line in self.lines[after:]
            ),
        )

    def wait_for_log(self, text):
        self.wait(text, lambda: any(text in line for line in self.log))

    def decoder(self):
        """The number of the process that decodes."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                _, name, _, parent, *_ = (process / "stat").read_text().split()
                if name == "(lookout-stream-)" and int(parent) == self.process.pid:
                    return int(process.name)
        raise AssertionError("there is no decoder")

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
        status = self.process.wait(LIMIT)
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def all_text(self):
        return json.dumps(self.lines) + "\n".join(self.log)


class NetworkTest(unittest.TestCase):
    def camera(self, *options):
        camera = Camera(*options)
        self.addCleanup(camera.close)
        return camera

    def lookout(self, url, *options):
        run = Run(url, *options)
        self.addCleanup(run.end)
        return run

    def test_rtsp_names_the_pictures(self):
        camera = self.camera()
        run = self.lookout(camera.url)
        run.wait_for_label("red")
        camera.obey("pattern blue")
        run.wait_for_label("blue")
        self.assertEqual(run.end(), 0)
        summary = run.lines[-1]
        self.assertEqual(summary["type"], "summary")
        self.assertEqual(summary["skipped"], 0)

    def test_rtsp_by_udp(self):
        run = self.lookout(self.camera().url, "--set", "camera.rtsp-transport=udp")
        run.wait_for_label("red")
        self.assertEqual(run.end(), 0)

    def test_the_size_of_a_stream_may_change(self):
        camera = self.camera()
        run = self.lookout(camera.url)
        run.wait_for_label("red")
        seen = len(run.lines)
        camera.obey("size 640x480")
        camera.obey("pattern green")
        run.wait_for_label("green", seen)
        self.assertFalse([line for line in run.log if " lost" in line])

    def test_a_lost_server_is_waited_for(self):
        camera = self.camera()
        run = self.lookout(camera.url)
        run.wait_for_label("red")
        camera.close()
        run.wait_for_log("camera 127.0.0.1 lost")
        seen = len(run.lines)
        self.camera("--port", str(camera.port))
        run.wait_for_log("camera 127.0.0.1 is back")
        run.wait_for_label("red", seen)

        def states():
            return [line["state"] for line in run.lines if line["type"] == "status"]

        run.wait("online", lambda: states()[-2:] == ["offline", "online"])

    def test_a_stalled_stream_is_opened_again(self):
        camera = self.camera()
        run = self.lookout(camera.url)
        run.wait_for_label("red")
        camera.obey("stall")
        run.wait_for_log("lost: no frame for 5.")

    def test_a_stop_does_not_wait_for_a_silent_camera(self):
        camera = self.camera()
        run = self.lookout(camera.url)
        run.wait_for_label("red")
        camera.process.send_signal(signal.SIGSTOP)  # the connections stay
        self.assertEqual(run.end(), 0)

    def test_a_decoder_that_is_killed_is_a_lost_camera(self):
        camera = self.camera()
        run = self.lookout(camera.url)
        run.wait_for_label("red")
        os.kill(run.decoder(), signal.SIGKILL)
        run.wait_for_log("its decoder ended: Killed (signal 9); trying again")
        run.wait_for_log("camera 127.0.0.1 is back")
        self.assertEqual(run.end(), 0)
        self.assertEqual(sum(" lost: " in line for line in run.log), 1)

    def test_a_decoder_that_hangs_is_a_lost_camera(self):
        camera = self.camera()
        run = self.lookout(camera.url)
        run.wait_for_label("red")
        os.kill(run.decoder(), signal.SIGSTOP)
        run.wait_for_log("lost: no frame for 5.")
        run.wait_for_log("camera 127.0.0.1 is back")

    def test_the_decoder_ends_with_lookout(self):
        run = self.lookout(self.camera().url)
        run.wait_for_label("red")
        decoder = os.pidfd_open(run.decoder())
        self.addCleanup(os.close, decoder)
        run.process.kill()
        self.assertTrue(select.select([decoder], [], [], LIMIT)[0])

    def test_the_decoder_has_neither_files_nor_a_network(self):
        camera = self.camera("--user", "viewer", "--password", "secret")
        run = self.lookout(camera.url.replace("://", "://viewer:secret@"))
        run.wait_for_label("red")
        process = pathlib.Path("/proc", str(run.decoder()))
        for file in ("cmdline", "environ"):
            self.assertNotIn(b"secret", (process / file).read_bytes(), file)
        descriptors = [os.readlink(fd) for fd in (process / "fd").iterdir()]
        places = [place.partition(":")[0] for place in descriptors]
        self.assertLessEqual(set(places), {"/dev/null", "/dev/urandom", "/memfd", "socket", CERTIFICATES})
        self.assertIn("Seccomp:\t2\n", (process / "status").read_text())
        maps = pathlib.Path("/proc", str(run.process.pid), "maps").read_text()
        self.assertNotIn("liblookout-video", maps)

    def test_a_password(self):
        camera = self.camera("--user", "viewer", "--password", "gehe:im@1")
        with tempfile.TemporaryDirectory() as folder:
            secret = pathlib.Path(folder) / "credentials"
            secret.write_text("viewer:gehe:im@1\n")
            run = self.lookout(
                camera.url, "--set", f"camera.credentials={secret}", "--log-level", "debug"
            )
            run.wait_for_label("red")
            self.assertEqual(run.end(), 0)
        self.assertNotIn("gehe", run.all_text())
        run = self.lookout(
            camera.url.replace("://", "://viewer:gehe%3Aim%401@"), "--log-level", "debug"
        )
        run.wait_for_label("red")
        self.assertEqual(run.end(), 0)
        self.assertNotIn("gehe", run.all_text())

    def test_a_wrong_password_ends_the_run(self):
        camera = self.camera("--user", "viewer", "--password", "right")
        for user in ("", "viewer:wrong@"):
            run = self.lookout(camera.url.replace("://", "://" + user))
            self.assertEqual(run.process.wait(LIMIT), 77)
            run.end()
            self.assertIn("wrong user name or password (401)", run.log[-1])
            self.assertNotIn("viewer", run.all_text())

    def test_what_is_not_there_ends_the_run(self):
        camera = self.camera()
        run = self.lookout(camera.url + "s")
        self.assertEqual(run.process.wait(LIMIT), 66)
        run.end()
        self.assertIn("there is nothing at this address (404)", run.log[-1])
        camera.close()
        run = self.lookout(camera.url)
        self.assertEqual(run.process.wait(LIMIT), 66)
        run.end()
        self.assertIn("Connection refused", run.log[-1])

    def test_doctor_asks_the_camera(self):
        camera = self.camera("--user", "viewer", "--password", "secret")
        url = camera.url.replace("://", "://viewer:secret@")
        done = subprocess.run(
            [LOOKOUT, "doctor", "--config", "", url], capture_output=True, text=True, timeout=LIMIT
        )
        self.assertIn("320x240", done.stdout)
        self.assertNotIn("secret", done.stdout + done.stderr)

    def test_ffmpegs_web_server(self):
        for container, codec in (("mpjpeg", "mjpeg"), ("mpegts", "mpeg2video")):
            with self.subTest(container):
                url = f"http://127.0.0.1:{free_port()}/a"
                run = self.lookout(url, "--set", "camera.wait=yes")
                run.wait_for_log("waiting for camera 127.0.0.1")
                source = ["-re", "-f", "lavfi", "-i", "color=red:size=320x240:rate=25"]
                server = subprocess.Popen(
                    ["ffmpeg", "-v", "error", *source, "-t", "5", "-c:v", codec]
                    + ["-f", container, "-listen", "1", url],
                    stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                self.addCleanup(server.wait)
                self.addCleanup(server.kill)
                run.wait_for_label("red")
                run.wait_for_log("camera 127.0.0.1 lost")
                self.assertEqual(run.end(), 0)


if __name__ == "__main__":
    if not LOOKOUT.exists():
        sys.exit(f"network_test.py: no {LOOKOUT}")
    unittest.main(verbosity=2)
