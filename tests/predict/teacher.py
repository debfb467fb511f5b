"""An owner who teaches a run of the program over HTTP, for tests."""

import json

from owner import OwnerTest
from served import ROOT, wait_for

GATE = {"name": "gate", "title": "The gate", "roi": [0.1, 0.1, 0.5, 0.5], "classes": ["open", "closed"]}
PICTURES = 5  # of a class


class Teacher(OwnerTest):
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

    def hold_both(self):
        """The gate is red when it is open, and blue when it is closed, as which it is seen at the end."""
        for label, self.source in (("open", "test://red"), ("closed", "test://blue")):
            self.end()
            self.start()
            self.hold(label, PICTURES)

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
