#!/usr/bin/python3
"""An owner teaches a watch over HTTP; what was kept outlives restarts, and a bad disk ends no run.

  teach_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout. Everything is on loopback.
"""

import json
import sys
import unittest

sys.dont_write_bytecode = True

from owner import OwnerTest  # noqa: E402
from served import ROOT, wait_for  # noqa: E402

GATE = {"name": "gate", "title": "The gate", "roi": [0.1, 0.1, 0.5, 0.5], "classes": ["open", "closed"]}
PICTURES = 5  # of a class


class TeachTest(OwnerTest):
    @property
    def more_options(self):
        base = f"model.base={ROOT}/models/selftest.pt"
        return ("--set", base, "--set", f"history.folder={self.folder}/history")

    def setUp(self):
        super().setUp()
        self.cookie = self.log_in()[2]

    def teach(self, method, path, body=None, status=200):
        """The answer's JSON, or its bytes if it is none."""
        headers = {**self.headers(), "Cookie": self.cookie}
        sent = None if method == "GET" else json.dumps(body or {})
        got, answer = self.ask(f"/api/1/teach{path}", method, sent, headers)
        self.assertEqual(got, status, answer)
        return json.loads(answer) if answer[:1] in (b"{", b"[") else answer

    def pictures(self, query=""):
        return self.teach("GET", f"/pictures?watch=gate{query}")["pictures"]

    def hold(self, label, count):
        """Holds the button until there are so many pictures; presses it again when this machine was too slow."""
        hold = {"held": False}

        def is_enough():
            nonlocal hold
            if not hold["held"]:
                hold = self.teach("POST", "/watches/gate/holds", {"class": label}, 201)
            hold = self.teach("PUT", f"/holds/{hold['number']}")
            self.assertEqual(hold["problem"], "", hold["why"])
            return len(self.pictures(f"&class={label}")) >= count

        wait_for(f"{count} pictures", is_enough)
        self.assertFalse(self.teach("DELETE", f"/holds/{hold['number']}")["held"])

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

    def train(self):
        """Returns the model."""
        self.teach("POST", "/watches/gate/job", status=202)
        wait_for("a training", lambda: self.teach("GET", "")["job"]["state"] != "running")
        told = self.teach("GET", "")
        self.assertEqual(told["job"]["state"], "done", told["job"]["message"])
        return told["watches"][0]["trained"]

    def use(self, model):
        watch = self.teach("PUT", "/watches/gate/model", {"sha256": model["sha256"]})
        self.assertEqual(watch["model"]["sha256"], model["sha256"])

    def states(self):
        """Of all watches, by name."""
        watches = json.loads(self.ask("/state")[1]).get("watches", [])
        return {each["name"]: each["state"] for each in watches}

    def test_what_is_taught_is_watched_at_once(self):
        for label, self.source in (("open", "test://red"), ("closed", "test://blue")):
            self.end()
            self.start()
            if label == "open":
                self.teach("POST", "/watches", GATE, 201)
                self.teach("POST", "/watches/gate/job", status=422)
            self.hold(label, PICTURES)
        self.assertEqual(self.states(), {})
        first = self.train()
        self.assertFalse(first["can_tell"])
        self.use(first)
        wait_for("the state of the new watch", lambda: self.states() == {"gate": "closed"})

        self.hold("closed", PICTURES + 1)
        second = self.train()
        self.assertNotEqual(second["sha256"], first["sha256"])
        self.assertEqual(second["in_use_right"]["of"], second["of"])
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
