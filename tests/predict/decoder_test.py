#!/usr/bin/python3
"""The process that decodes clients' pictures, killed, stopped and looked at from outside.

  decoder_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout. Another client and the camera go on whatever happens to the decoder.
"""

import contextlib
import os
import pathlib
import signal
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True

from served import ServedTest, wait_for  # noqa: E402

NAME = "lookout-decoder"
KILLS = 10
BACK = 1.0  # s, from the last kill to the answer


def parent_of(process):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        name, fields = (process / "stat").read_text().rsplit(")", 1)
        if name.endswith(NAME):
            return int(fields.split()[1])
    return None


class DecoderTest(ServedTest):
    def setUp(self):
        super().setUp()
        self.picture = self.ask("/snapshot.jpg")[1]
        self.assertEqual(self.upload(self.picture)[0], 200)

    def decoder(self):
        """The process' folder in /proc."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            if parent_of(process) == self.process.pid:
                return process
        raise AssertionError("there is no decoder")

    def signal(self, number):
        os.kill(int(self.decoder().name), number)

    def metric(self, row):
        text = self.ask("/metrics")[1].decode()
        return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(row + " "))

    def test_ten_kills_in_a_row(self):
        for _ in range(KILLS):
            self.signal(signal.SIGKILL)
            self.assertEqual(self.upload(self.picture)[0], 200)
        self.signal(signal.SIGKILL)
        start = time.monotonic()
        self.assertEqual(self.upload(self.picture)[0], 200)
        self.assertLess(time.monotonic() - start, BACK)
        self.assertEqual(self.metric("lookout_decoder_starts_total"), KILLS + 2)
        self.expect_unharmed()

    def test_one_that_hangs(self):
        """Costs one answer, after the deadline; the camera goes on."""
        self.signal(signal.SIGSTOP)
        answers = []
        thread = threading.Thread(target=lambda: answers.append(self.upload(self.picture)))
        thread.start()
        wait_for("the request", lambda: self.metric("lookout_predict_queue_length") == 1)
        self.assertEqual(self.ask("/snapshot.jpg")[0], 200)
        thread.join()
        self.assertEqual(answers[0][0], 422)
        self.assertIn(b"takes longer than 10 s", answers[0][1])
        self.assertEqual(self.metric('lookout_decoder_failures_total{reason="late"}'), 1)
        self.assertEqual(self.upload(self.picture)[0], 200)
        self.expect_unharmed()

    def test_a_stop_does_not_wait_for_one_that_hangs(self):
        self.signal(signal.SIGSTOP)
        client = self.connect()
        client.sendall(b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: image/jpeg\r\n")
        client.sendall(b"Content-Length: %d\r\n\r\n" % len(self.picture) + self.picture)
        wait_for("the request", lambda: self.metric("lookout_predict_queue_length") == 1)
        start = time.monotonic()
        self.process.terminate()
        self.process.wait()
        self.assertLess(time.monotonic() - start, 2)

    def test_what_it_may(self):
        process = self.decoder()
        status = (process / "status").read_text()
        for line in ("NoNewPrivs:\t1\n", "Seccomp:\t2\n", "Threads:\t1\n"):
            self.assertIn(line, status)
        limits = (process / "limits").read_text()
        self.assertRegex(limits, r"Max core file size +0 +0 ")
        self.assertRegex(limits, r"Max open files +0 +0 ")
        self.assertNotRegex(limits, r"Max address space +unlimited")
        if os.geteuid() == 0:  # others may not look
            self.assertEqual(sorted(os.listdir(process / "fd")), list("01234"))

    def test_it_ends_with_the_program(self):
        process = self.decoder()
        self.process.kill()
        self.process.wait()
        wait_for("the decoder's end", lambda: not process.exists() or parent_of(process) is None)

    def end(self):
        if self.process.poll() is None:
            super().end()
        else:
            self.process.communicate()


if __name__ == "__main__":
    unittest.main()
