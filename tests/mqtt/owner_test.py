#!/usr/bin/python3
"""Two machines whose cameras have one name, with a real mosquitto.

  owner_test.py [NAME...]    names as of unittest

Needs what mqtt_test.py needs.
"""

import json
import pathlib
import signal
import sys
import unittest

try:
    from house import FRONT, HouseTest, Listener, can_have_an_id
    from house import free_port, lookout, metrics_at, retained
except ImportError as missing:
    print(f"skipped: {missing}; deploy/install-deps.sh --mqtt installs what is needed")
    sys.exit(77)


class OwnerTest(HouseTest):
    """The second machine is a topic, or a run in a mount namespace."""

    OTHER = json.dumps({"machine": "0123456789ab", "host": "pi2"})

    def test_topics_of_another_machine_are_left_alone_until_they_are_forgotten(self):
        broker = self.broker()
        listener = self.use(Listener(broker.port))
        listener.publish(FRONT + "owner", self.OTHER, retain=True)
        listener.publish(FRONT + "available", "online", retain=True)
        port = free_port()
        run = self.run_on(broker, "--set", f"http.address=127.0.0.1:{port}")
        run.wait_for("lookout/front belongs to the machine pi2 (0123456789ab), which is online")
        self.assertEqual(set(retained(broker.port)), {FRONT + "owner", FRONT + "available"})
        self.assertIn('lookout_mqtt_connected{camera="front"} 0\n', metrics_at(port))
        url = f"mqtt://127.0.0.1:{broker.port}"
        done = lookout("mqtt", "forget", "--mqtt", url, "--set", "camera.name=front")
        self.assertEqual(done.returncode, 66)
        self.assertIn("of the machine pi2 (0123456789ab)", done.stderr)
        run.stop(signal.SIGKILL)
        run = self.run_on(broker)
        run.wait_for("belongs to the machine pi2")
        listener.forget()
        done = lookout("mqtt", "forget", "--all-machines", "--mqtt", url, "--set", "camera.name=front")
        self.assertEqual(done.returncode, 0, done.stderr)
        listener.wait("events", lambda me: me.of(FRONT + "event"))
        self.assertNotIn("offline", listener.payloads(FRONT + "available"))
        self.assertEqual(run.count("belongs to"), 1, run.log)
        run.wait_for("lookout/front is free now")
        run.stop(signal.SIGKILL)
        listener.wait_for(FRONT + "available", "offline")

    def test_of_two_that_start_at_once_one_publishes(self):
        if not can_have_an_id():
            self.skipTest("no namespaces here")
        broker = self.broker()
        listener = self.use(Listener(broker.port))
        ids = [self.write_id(digit) for digit in "ab"]
        runs = [self.run_on(broker, machine_id=name) for name in ids]
        listener.wait("events", lambda me: len(me.of(FRONT + "event")) > 5)
        lost = [run for run in runs if run.count("belongs to")]
        self.assertEqual(len(lost), 1, [run.log for run in runs])
        devices = [topic for topic in retained(broker.port) if topic.endswith("/config")]
        self.assertEqual(len(devices), 1, devices)
        # What the second one does is not seen; and its end is none of the first one's.
        lost[0].stop(signal.SIGKILL)
        seen = len(listener.of(FRONT + "event"))
        listener.wait("events", lambda me: len(me.of(FRONT + "event")) > seen + 5)
        self.assertEqual(set(listener.payloads(FRONT + "available")), {"online"})

    def test_available_is_corrected(self):
        _, listener, _ = self.connected()
        listener.publish(FRONT + "available", "offline", retain=True)
        listener.wait_for(FRONT + "available", "online")

    def write_id(self, digit):
        path = pathlib.Path(self.folder()) / "machine-id"
        path.write_text(digit * 32 + "\n", encoding="ascii")
        return path


if __name__ == "__main__":
    unittest.main()
