#!/usr/bin/python3
"""Several watches of one camera, with a real mosquitto: their topics, and what a removed one leaves.

  watches_test.py [NAME...]    names as of unittest

Needs what mqtt_test.py needs.
"""

import json
import signal
import sys
import unittest

try:
    import jsonschema
    from house import FRONT, HouseTest, Listener, lookout, retained
    from mqtt_test import SCHEMA
except ImportError as missing:
    print(f"skipped: {missing}; deploy/install-deps.sh --mqtt installs what is needed")
    sys.exit(77)

LEFT, RIGHT = "roi=0,0,0.5,1", "roi=0.5,0,0.5,1"


def watching(**watches):
    """Options of a run: names, and what is said of each."""
    return [part for name, setting in watches.items() for part in ("--set", f"watch.{name}.{setting}")]


class WatchesTest(HouseTest):
    def setUp(self):
        super().setUp()
        self.house = self.broker()
        self.listener = self.use(Listener(self.house.port))

    def start(self, *options, source="test://red", waits_for=None):
        """A run, from whose state on this listener hears."""
        self.listener.forget()
        run = self.run_on(self.house, *options, source=source)
        for topic in waits_for or ["state"]:
            self.listener.wait(topic, lambda me, topic=topic: any(m.payload for m in me.of(FRONT + topic)))
        return run

    def stop(self, run):
        self.assertEqual(run.stop(), 0)
        self.listener.wait_for(FRONT + "available", "stopped")

    def names(self):
        """Of retained topics, below the camera's."""
        return {topic.removeprefix(FRONT) for topic in retained(self.house.port) if topic.startswith(FRONT)}

    def device(self):
        config = [m for m in self.listener.messages if m.topic.endswith("/config") and m.payload]
        return json.loads(config[-1].payload)

    def test_each_has_topics_of_its_own(self):
        states = ["watch/gate/state", "watch/lamp/state"]
        pictures = ["watch/gate/snapshot", "watch/lamp/snapshot"]
        run = self.start(*watching(gate=LEFT, lamp=RIGHT), source="test://all?hold=6",
                         waits_for=[*states, *pictures, "watch/gate/event", "watch/lamp/event"])  # fmt: skip
        self.stop(run)
        self.assertEqual(
            self.names(),
            {"available", "camera", "owner", "watch", *states, *pictures,
             "watch/gate/attributes", "watch/lamp/attributes"},
        )  # fmt: skip
        self.assertEqual(retained(self.house.port)[FRONT + "watch"], b'["gate","lamp"]')
        event = json.loads(self.listener.payloads(FRONT + "watch/lamp/event")[-1])
        self.assertEqual((event["event_type"], event["watch"]), ("changed", "lamp"))
        self.assertEqual(self.listener.of(FRONT + "watch/gate/snapshot")[-1].payload[:2], b"\xff\xd8")
        jsonschema.validate(self.device(), SCHEMA)

    def test_a_restart_is_an_event_of_each_whose_state_is_another_one(self):
        names = ["watch/gate/state", "watch/lamp/state"]
        options = watching(gate=LEFT, lamp=RIGHT)
        self.stop(self.start(*options, waits_for=names))
        self.stop(self.start(*options, waits_for=names))
        self.assertEqual(self.listener.of(FRONT + "watch/gate/event"), [])
        self.start(*options, source="test://green", waits_for=[*names, "watch/lamp/event"])
        self.listener.wait("an event", lambda me: me.of(FRONT + "watch/gate/event"))
        for name in ("gate", "lamp"):
            event = json.loads(self.listener.payloads(FRONT + f"watch/{name}/event")[0])
            self.assertEqual((event["previous"], event["state"]), ("red", "green"))

    def test_what_is_watched_no_more_leaves_nothing(self):
        self.stop(self.start())
        self.assertIn("state", self.names())
        gate = ["watch/gate/state", "watch/gate/snapshot"]
        run = self.start(*watching(gate=LEFT, lamp=RIGHT), waits_for=gate)
        run.stop(signal.SIGKILL)
        self.assertEqual(self.names() & {"state", "state/attributes", "snapshot"}, set())
        device = self.device()
        jsonschema.validate(device, SCHEMA)
        self.assertEqual(device["cmps"]["state"], {"p": "sensor"})
        self.stop(self.start(*watching(box=LEFT, lamp=RIGHT), waits_for=["watch/box/state"]))
        self.assertEqual({name for name in self.names() if "gate" in name}, set())
        self.assertEqual(self.device()["cmps"]["gate_image"], {"p": "image"})
        self.stop(self.start())
        self.assertEqual({name for name in self.names() if "watch" in name}, set())
        self.assertEqual(self.device()["cmps"]["box_state"], {"p": "sensor"})
        run = self.start()
        self.assertNotIn("box_state", self.device()["cmps"])
        self.stop(run)
        self.assertEqual(self.names(), {"available", "camera", "owner", "state", "state/attributes",
                                        "snapshot"})  # fmt: skip

    def test_another_title_is_another_name_of_the_same_entities(self):
        run = self.start(*watching(gate=LEFT), waits_for=["watch/gate/state"])
        before = self.device()["cmps"]["gate_state"]
        self.stop(run)
        run = self.start(*watching(gate=LEFT), "--set", "watch.gate.title=Garden gate",
                         waits_for=["watch/gate/state"])  # fmt: skip
        after = self.device()["cmps"]["gate_state"]
        self.assertEqual((before.pop("name"), after.pop("name")), ("gate state", "Garden gate state"))
        self.assertEqual(before, after)

    def test_a_camera_with_watches_is_forgotten(self):
        run = self.start(*watching(gate=LEFT, lamp=RIGHT), "--set", "mqtt.commands=true",
                         waits_for=["watch/gate/snapshot", "watch/lamp/state"])  # fmt: skip
        self.stop(run)
        done = lookout("mqtt", "forget", "--mqtt", f"mqtt://127.0.0.1:{self.house.port}")
        self.assertEqual(done.stdout, "removed from the broker: front\n", done.stderr)
        self.assertEqual(retained(self.house.port), {})

    def test_a_picture_that_is_asked_for_is_the_cameras(self):
        self.start(*watching(gate=LEFT), "--set", "mqtt.commands=true", waits_for=["watch/gate/snapshot"])
        self.listener.publish(FRONT + "snapshot/set", "PRESS")
        self.listener.wait("the picture", lambda me: me.of(FRONT + "snapshot"))
        self.assertNotIn("snapshot", self.names())


if __name__ == "__main__":
    unittest.main()
