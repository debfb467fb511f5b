#!/usr/bin/python3
"""What an owner teaches, in a real Home Assistant: it comes without a restart of either, and leaves nothing.

  ha_taught_test.py [NAME...]    names as of unittest

Needs what ha_test.py needs.
"""

import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "predict"))
sys.dont_write_bytecode = True

from ha_test import InHouse, expect_no_complaint  # noqa: E402
from home_assistant import LIMIT  # noqa: E402
from house import FRONT, retained  # noqa: E402
import served  # noqa: E402
from teacher import GATE, Teacher  # noqa: E402

served.PATIENCE = LIMIT
STATE = "sensor.front_the_gate_state"
ENTITIES = {STATE, "sensor.front_the_gate_score", "event.front_the_gate_change", "image.front_the_gate_last_change",
            "camera.front_the_gate_picture"}  # fmt: skip


class TaughtTest(InHouse, Teacher):
    """The tests share one Home Assistant, which starts slowly."""

    @property
    def more_options(self):
        url = f"mqtt://127.0.0.1:{self.broker.port}"
        return (*super().more_options, "--mqtt", url, "--set", "camera.name=front")

    def setUp(self):
        """A gate is taught, and closed."""
        super().setUp()
        self.teach("POST", "/watches", GATE, 201)
        self.hold_both()
        self.home.wait_for("sensor.front_state", "blue")
        self.use(self.train())

    def of_gate(self):
        return {entity for entity in self.home.states() if "front_the_gate" in entity}

    def topics_of_gate(self):
        """With what the broker still says of it anywhere."""
        return {topic for topic, payload in retained(self.broker.port).items()
                if topic.startswith(FRONT) and "gate" in topic or b"gate" in payload}  # fmt: skip

    def test_1_it_appears_and_goes_while_both_run(self):
        self.home.wait_for(STATE, "closed")
        self.home.wait("its entities", lambda: self.of_gate() == ENTITIES)
        state = self.home.states()[STATE]["attributes"]
        self.assertEqual(set(state["options"]), {"open", "closed", "unknown"})
        self.assertEqual(state["friendly_name"], "front The gate state")
        self.teach("DELETE", "/watches/gate", status=204)
        self.home.wait("the end of its entities", lambda: not self.of_gate())
        self.home.wait_for("sensor.front_state", "blue")
        self.assertNotIn("Error while executing automation", self.home.log())

    def test_2_what_goes_while_home_assistant_is_off_is_gone_when_it_is_back(self):
        self.home.wait_for(STATE, "closed")
        self.home.stop()
        self.teach("DELETE", "/watches/gate", status=204)
        served.wait_for("the end of its topics", lambda: not self.topics_of_gate())
        self.home.start()
        self.home.wait_for("sensor.front_state", "blue")
        self.home.wait("the end of its entities", lambda: not self.of_gate())
        served.wait_for("the end of its topics", lambda: not self.topics_of_gate())

    @classmethod
    def tearDownClass(cls):
        expect_no_complaint(cls.home)


if __name__ == "__main__":
    unittest.main()
