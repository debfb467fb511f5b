#!/usr/bin/python3
"""What an owner teaches comes to Home Assistant's broker without a restart, and leaves nothing when it goes.

  taught_test.py

Needs what mqtt_test.py needs.
"""

import contextlib
import json
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "predict"))
sys.dont_write_bytecode = True

try:
    import jsonschema
    from house import FRONT, Broker, Listener, retained
    from mqtt_test import SCHEMA
except ImportError as missing:
    print(f"skipped: {missing}; deploy/install-deps.sh --mqtt installs what is needed")
    sys.exit(77)

from teacher import GATE, Teacher  # noqa: E402


class TaughtTest(Teacher):
    def setUp(self):
        self.house = self.enterContext(contextlib.closing(Broker()))
        self.listener = self.enterContext(contextlib.closing(Listener(self.house.port)))
        super().setUp()

    @property
    def more_options(self):
        url = f"mqtt://127.0.0.1:{self.house.port}"
        return (*super().more_options, "--mqtt", url, "--set", "camera.name=front")

    def device(self):
        """As it was discovered last."""
        config = [m for m in self.listener.messages if m.topic.endswith("/config") and m.payload]
        return json.loads(config[-1].payload)

    def names(self):
        """Of retained topics, below the camera's."""
        return {topic.removeprefix(FRONT) for topic in retained(self.house.port) if topic.startswith(FRONT)}

    def test_a_taught_watch_comes_and_goes(self):
        self.teach("POST", "/watches", GATE, 201)
        self.hold_both()
        self.listener.wait_for(FRONT + "state", "blue")
        self.use(self.train())
        self.listener.wait_for(FRONT + "watch/gate/state", "closed")
        device = self.device()
        jsonschema.validate(device, SCHEMA)
        self.assertEqual(device["cmps"]["gate_state"]["stat_t"], FRONT + "watch/gate/state")
        self.assertIn("watch/gate/attributes", self.names())

        self.teach("DELETE", "/watches/gate", status=204)
        self.listener.wait_for(FRONT + "state", "blue")
        self.listener.wait("the end of its entities", lambda _: self.device()["cmps"]["gate_state"] == {"p": "sensor"})
        self.assertEqual({name for name in self.names() if "gate" in name}, set())


if __name__ == "__main__":
    unittest.main()
