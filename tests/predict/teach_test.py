#!/usr/bin/python3
"""An owner teaches a watch over HTTP; what was kept outlives restarts, and a bad disk ends no run.

  teach_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout. Everything is on loopback.
"""

import json
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

from served import LOOKOUT, wait_for  # noqa: E402
from teacher import GATE, PICTURES, Teacher  # noqa: E402


class TeachTest(Teacher):
    def test_what_is_taught_outlives_a_restart(self):
        self.assertEqual(json.loads(self.ask("/api/1/session")[1]), {"role": "guest", "teach": True})
        watch = self.teach("POST", "/watches", GATE, 201)
        self.assertEqual({key: watch[key] for key in GATE}, GATE)
        self.hold("open", PICTURES)
        self.hold("closed", PICTURES)

        newest = self.pictures("&class=closed")[0]
        path = f"/pictures/{newest['number']}.jpg"
        whole, thumb = self.teach("GET", path), self.teach("GET", f"{path}?size=thumb")
        self.assertEqual((whole[:3], thumb[:3]), (b"\xff\xd8\xff", b"\xff\xd8\xff"))
        self.assertLess(len(thumb), len(whole))
        self.assertEqual(self.ask(f"/api/1/teach{path}")[0], 401)

        marks = [{**newest, "label": "open"}]
        undo = self.teach("PATCH", "/pictures", {"marks": marks})["undo"]
        self.assertIn(newest["number"], [each["number"] for each in self.pictures("&class=open")])
        self.teach("PATCH", "/pictures", {"marks": marks}, 409)
        self.teach("PATCH", "/pictures", {"marks": undo})
        self.assertIn(newest["number"], [each["number"] for each in self.pictures("&class=closed")])
        oldest = self.pictures()[-1]
        self.teach("PATCH", "/pictures", {"marks": [{**oldest, "trashed": True}]})
        self.assertEqual([each["number"] for each in self.pictures("&trash=1")], [oldest["number"]])
        self.expect_unharmed()

        def everything():
            told = self.teach("GET", "")
            kept = (told["watches"], told["usage"], self.pictures(), self.pictures("&trash=1"))
            return (*kept, self.teach("GET", path))

        # What a button that was let go still asked for has come.
        wait_for("no more pictures", lambda: everything() == everything())
        before = everything()
        self.end()
        self.start()
        self.assertEqual(everything(), before)
        self.process.kill()
        self.process.communicate()
        self.start()
        self.assertEqual(everything(), before)

    def test_what_is_taught_is_watched_at_once(self):
        self.teach("POST", "/watches", GATE, 201)
        self.teach("POST", "/watches/gate/job", status=422)
        self.hold_both()
        self.assertEqual(self.states(), {})
        self.assertEqual(self.state_of_a_picture(), (404, None))
        first = self.train()
        self.assertFalse(first["can_tell"])
        self.use(first)
        wait_for("the state of the new watch", lambda: self.states() == {"gate": "closed"})
        self.assertEqual(self.state_of_a_picture(), (200, "closed"))

        self.hold("closed", PICTURES + 1)
        second = self.train()
        self.assertNotEqual(second["sha256"], first["sha256"])
        self.assertIsNone(second["compared"], "too few pictures are new")
        self.use(second)
        wait_for("the state", lambda: self.states() == {"gate": "closed"})
        self.assertEqual(self.teach("GET", "")["watches"][0]["previous"]["sha256"], first["sha256"])
        self.use(first)

        self.end()
        self.source = "test://red"
        self.start()
        wait_for("the other state", lambda: self.states() == {"gate": "open"})
        self.expect_a_change_to_be_taught()

        self.end()
        self.source = "test://all?fps=20"
        self.start()
        wait_for("what is neither red nor blue", lambda: self.pictures("&unlabelled=1"))
        self.assertEqual(self.pictures("&unlabelled=1")[-1]["origin"], "unsure")
        self.teach("DELETE", "/watches/gate", status=204)
        wait_for("no watch", lambda: self.states() == {})
        self.assertEqual(self.state_of_a_picture(), (404, None))

    def state_of_a_picture(self):
        """Of what the camera sees, sent as a client's."""
        picture = self.ask("/snapshot.jpg")[1]
        kind = {"Content-Type": "image/jpeg"}
        status, answer = self.ask("/predict?watch=gate", "POST", picture, kind)
        return status, json.loads(answer).get("state")

    def events(self):
        """Changes of the watch, newest first."""
        return json.loads(self.ask("/api/1/events?watch=gate&state=open")[1])["events"]

    def expect_a_change_to_be_taught(self):
        wait_for("the change", self.events)
        event = self.events()[0]["number"]
        kept = self.teach("POST", "/watches/gate/events", {"event": event, "class": "closed"}, 201)
        self.assertEqual((kept["label"], kept["origin"]), ("closed", "event"))
        picture = self.teach("GET", f"/pictures/{kept['number']}.jpg")
        self.assertEqual(picture, self.ask(f"/api/1/events/{event}.jpg")[1])
        again = self.teach("POST", "/watches/gate/events", {"event": event, "class": "_other"})
        self.assertEqual((again["number"], again["label"]), (kept["number"], "_other"))

    def test_a_library_that_is_damaged_is_put_aside_and_told_of(self):
        self.teach("POST", "/watches", GATE, 201)
        self.end()
        library = self.folder / "teach" / "library.db"
        library.write_bytes(b"no database" * 1000)
        self.start()
        told = self.teach("GET", "")
        self.assertEqual(told["watches"], [])
        self.assertIn("library.db.damaged", told["damage"])
        self.assertTrue(library.with_name("library.db.damaged").exists())
        self.assertEqual(sum("http.teach: what was taught before" in line for line in self.logged), 1)
        kept = "1 damaged library is kept, "
        self.assertEqual(sum(f"http.teach: {kept}" in line for line in self.logged), 1)
        doctor = [LOOKOUT, "doctor", self.source, *self.options]
        told = subprocess.run(doctor, capture_output=True, text=True, check=False).stdout
        self.assertIn(kept, told)
        self.teach("POST", "/watches", GATE, 201)

    def test_without_a_folder_the_camera_goes_on(self):
        self.end()
        self.set_state_folder(None)
        self.start()
        self.expect_nothing_to_teach("STATE_DIRECTORY")
        self.end()
        self.set_state_folder(str(self.folder / "missing"))
        self.start()
        self.expect_nothing_to_teach("missing/teach cannot be used: No such file or directory")
        self.end()
        state = self.folder / "state"
        state.mkdir()
        (state / "teach").write_text("")
        self.set_state_folder(str(state))
        self.start()
        self.expect_nothing_to_teach("state/teach cannot be used: ")

    def expect_nothing_to_teach(self, why):
        told = [line for line in self.logged if "http.teach: nothing can be taught: " in line]
        self.assertEqual(len(told), 1, self.logged)
        self.assertIn(why, told[0])
        self.assertEqual(self.ask("/state")[0], 200)
        self.assertEqual(json.loads(self.ask("/api/1/session")[1]), {"role": "guest", "teach": False})
        self.assertEqual(self.ask("/api/1/teach")[0], 404)


if __name__ == "__main__":
    unittest.main()
