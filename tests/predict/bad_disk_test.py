#!/usr/bin/python3
"""An owner teaches on a disk that is full or may not be written: each is told, and the camera goes on.

  bad_disk_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout, and namespaces of mounts: skipped without them. Everything is on loopback.
"""

import errno
import json
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from served import wait_for  # noqa: E402
from teacher import GATE, Teacher  # noqa: E402

LAMP = {**GATE, "name": "lamp", "title": "The lamp"}
NAMESPACE = ("unshare", "--map-root-user", "--mount", "sh", "-ec")


def can_mount():
    return subprocess.run([*NAMESPACE, "mount -t tmpfs none /tmp"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(can_mount(), "no namespaces of mounts here")
class BadDiskTest(Teacher):
    """The program has mounts of its own."""

    mounts = ":"  # commands; "$0" is the state folder

    @property
    def wrapper(self):
        return (*NAMESPACE, f'{self.mounts}; exec "$@"', str(self.folder))

    def classified(self):
        lines = self.ask("/metrics")[1].decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("lookout_frames_classified_total"))

    def expect_the_camera_to_go_on(self):
        before = self.classified()
        wait_for("frames", lambda: self.classified() > before + 3)
        self.expect_unharmed()

    def problem_of_a_hold(self):
        number = self.teach("POST", "/watches/gate/holds", {"class": "open"}, 201)["number"]
        hold = {}

        def is_told():
            nonlocal hold
            hold = self.teach("PUT", f"/holds/{number}")
            return hold["problem"]

        wait_for("the problem", is_told)
        self.teach("DELETE", f"/holds/{number}")
        self.assertEqual((hold["kept"], self.pictures()), (0, []))
        return hold["problem"], hold["why"]

    def refusal(self, *request, status):
        error = self.teach(*request, status)["error"]
        return error["code"], error["message"]


class FullDiskTest(BadDiskTest):
    mounts = 'mkdir "$0/teach"; mount -t tmpfs -o size=1m none "$0/teach"'

    def test_a_full_disk_is_told_until_there_is_room(self):
        self.teach("POST", "/watches", GATE, 201)
        self.assertEqual(self.problem_of_a_hold(), ("disk_full", "the disk is full"))
        self.expect_the_camera_to_go_on()

        filler = pathlib.Path(f"/proc/{self.process.pid}/root{self.folder}/teach/filler")
        with self.assertRaises(OSError) as full, filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        self.assertEqual(full.exception.errno, errno.ENOSPC)
        refused = ("disk_full", "the disk is full")
        titles = [f"A gate with a title of some length, the {i}th" for i in range(100)]

        def change(title):
            """The log of the database may have pages left."""
            watch = self.teach("GET", "")["watches"][0]
            headers = {**self.headers(), "Cookie": self.cookie}
            body = json.dumps({"revision": watch["revision"], "title": title})
            return self.ask("/api/1/teach/watches/gate", "PATCH", body, headers)[0]

        self.assertIn(507, map(change, titles))
        self.assertEqual(self.refusal("POST", "/watches", LAMP, status=507), refused)
        self.expect_the_camera_to_go_on()
        filler.unlink()
        self.teach("POST", "/watches", LAMP, 201)


class ReadOnlyPicturesTest(BadDiskTest):
    mounts = 'mkdir -p "$0/teach/pictures"; mount -t tmpfs -o ro none "$0/teach/pictures"'

    def test_pictures_that_cannot_be_written_are_told(self):
        self.teach("POST", "/watches", GATE, 201)
        self.assertEqual(self.problem_of_a_hold(), ("storage", "the disk refuses: Read-only file system"))
        self.expect_the_camera_to_go_on()


class ReadOnlyFolderTest(BadDiskTest):
    def test_a_folder_that_cannot_be_written_ends_no_run(self):
        self.teach("POST", "/watches", GATE, 201)
        self.end()
        self.mounts = 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"'
        self.start()
        told = [line for line in self.logged if "http.teach: " in line]
        self.assertEqual(len(told), 1, self.logged)
        why = f"nothing can be taught: {self.folder}/teach cannot be used: "
        self.assertIn(why, told[0])
        self.assertIn("read-only", told[0].lower())
        self.assertEqual(self.ask("/api/1/teach")[0], 404)
        self.expect_the_camera_to_go_on()


if __name__ == "__main__":
    unittest.main()
