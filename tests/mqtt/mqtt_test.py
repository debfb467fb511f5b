#!/usr/bin/python3
"""lookout on an MQTT broker, a real mosquitto: what is published, and every way in which it fails.

  mqtt_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout, and what install-deps.sh --mqtt installs. Everything is on loopback.
"""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

try:
    import jsonschema
    from house import FRONT, LIMIT, HouseTest, Listener, Proxy, Run, Server
    from house import free_port, lookout, make_certificates, metrics_at, retained
except ImportError as missing:
    print(f"skipped: {missing}; deploy/install-deps.sh --mqtt installs what is needed")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = json.loads((HERE / "discovery_schema.json").read_text(encoding="utf-8"))
STALL = float(os.environ.get("LOOKOUT_STALL_SECONDS", "30"))


class TopicsTest(HouseTest):
    def test_a_run_publishes_from_its_start_to_its_end(self):
        broker, listener, run = self.connected("--set", "mqtt.interval=1s")
        listener.wait("statistics", lambda me: me.of(FRONT + "stats"))
        listener.wait("a picture", lambda me: me.of(FRONT + "snapshot"))
        listener.wait("an event", lambda me: me.of(FRONT + "event"))
        self.assertEqual(run.stop(), 0)
        listener.wait_for(FRONT + "available", "stopped")
        self.assertEqual(listener.payloads(FRONT + "available"), ["online", "stopped"])
        self.assertEqual(listener.payloads(FRONT + "camera"), ["online"])
        for message in listener.messages:
            name = message.topic.removeprefix(FRONT)
            self.assertEqual(message.qos, 0 if name == "stats" else 1, name)
            self.assertEqual(message.retain, name not in ("stats", "event"), name)
        attributes = json.loads(listener.payloads(FRONT + "state/attributes")[-1])
        label = listener.payloads(FRONT + "state")[-1]
        self.assertEqual(attributes["results"][0]["label"], label)
        event = json.loads(listener.payloads(FRONT + "event")[-1])
        self.assertEqual((event["event_type"], event["type"]), ("changed", "state"))
        self.assertEqual(json.loads(listener.payloads(FRONT + "stats")[-1])["camera"], "front")
        self.assertEqual(listener.of(FRONT + "snapshot")[-1].payload[:2], b"\xff\xd8")
        self.assertIn(FRONT + "state", retained(broker.port))

    def test_the_will_tells_of_a_killed_run(self):
        _, listener, run = self.connected()
        run.stop(signal.SIGKILL)
        listener.wait_for(FRONT + "available", "offline")

    def test_the_discovery_fits_the_schema_and_comes_again_with_home_assistants_start(self):
        _, listener, _ = self.connected("--set", "mqtt.commands=true")
        config = [message for message in listener.messages if message.topic.endswith("/config")]
        self.assertRegex(config[0].topic, r"^homeassistant/device/lookout_[0-9a-f]{12}_front/config$")
        device = json.loads(config[0].payload)
        jsonschema.validate(device, SCHEMA)
        listener.forget()
        listener.publish("homeassistant/status", "online")
        listener.wait("the discovery", lambda me: me.of(config[0].topic))
        listener.wait("the camera", lambda me: me.of(FRONT + "camera"))

    def test_a_camera_is_forgotten(self):
        broker, listener, run = self.connected()
        run.stop()
        listener.wait_for(FRONT + "available", "stopped")
        done = lookout("mqtt", "forget", "--mqtt", f"mqtt://127.0.0.1:{broker.port}")
        self.assertEqual(done.stdout, "removed from the broker: front\n", done.stderr)
        self.assertEqual(retained(broker.port), {})

    def test_a_restart_is_an_event_when_it_changes_the_state(self):
        broker, listener, run = self.connected(source="test://red")
        run.stop()
        run = self.run_on(broker, source="test://red")
        listener.wait("the state again", lambda me: len(me.of(FRONT + "state")) == 2)
        run.stop()
        self.run_on(broker, source="test://green")
        listener.wait_for(FRONT + "state", "green")
        listener.wait("an event", lambda me: me.of(FRONT + "event"))
        event = json.loads(listener.payloads(FRONT + "event")[0])
        self.assertEqual((event["previous"], event["state"]), ("red", "green"))

    def test_without_a_name_the_hosts_is_in_it(self):
        broker = self.broker()
        listener = self.use(Listener(broker.port))
        self.run_on(broker, name="", source="test://red")
        host = socket.gethostname().split(".")[0]
        listener.wait("a state", lambda me: me.of(f"lookout/{host}-test/state"))

    def test_what_is_unknown_is_null(self):
        _, listener, _ = self.connected("--set", "mqtt.interval=1s", "--set", "mqtt.commands=true")
        listener.publish(FRONT + "enabled/set", "OFF")
        listener.wait_for(FRONT + "camera", "offline")

        def has_nothing(me):
            payloads = [json.loads(payload) for payload in me.payloads(FRONT + "stats")]
            return any(stats["latency_ms"]["total"]["p95"] is None for stats in payloads)

        listener.wait("statistics without a result", has_nothing)

    def test_doctor_and_metrics_know_the_connection(self):
        port = free_port()
        broker, _, run = self.connected("--set", f"http.address=127.0.0.1:{port}")
        done = lookout("doctor", "test://red", "--mqtt", f"mqtt://127.0.0.1:{broker.port}")
        self.assertRegex(done.stdout, r"ok +mqtt +mqtt://127.0.0.1:\d+ accepts the connection")
        metrics = metrics_at(port)
        self.assertIn('lookout_mqtt_connected{camera="front"} 1\n', metrics)
        self.assertRegex(metrics, r'lookout_mqtt_messages_total{camera="front"} [1-9]')
        self.assertRegex(metrics, r'lookout_mqtt_dropped_total{camera="front"} \d')
        self.assertEqual(run.count("another client"), 0)

    def test_a_clock_that_jumps_changes_nothing(self):
        library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
        if not os.path.exists(library):
            self.skipTest("there is no libfaketime here")
        clock = pathlib.Path(self.folder()) / "clock"
        clock.write_text("+0d", encoding="ascii")
        _, listener, run = self.connected(
            environment={"LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(clock),
                         "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"},
        )  # fmt: skip
        for jump in ("+30d", "-30d"):
            clock.write_text(jump, encoding="ascii")
            seen = len(listener.of(FRONT + "event"))
            listener.wait("more", lambda me, seen=seen: len(me.of(FRONT + "event")) > seen + 5)
        self.assertEqual(listener.payloads(FRONT + "available"), ["online"])
        self.assertEqual(run.count("mqtt:"), 1)


class CommandsTest(HouseTest):
    def test_off_releases_the_source_and_on_takes_it_again(self):
        _, listener, _ = self.connected("--set", "mqtt.commands=true")
        listener.publish(FRONT + "enabled/set", "OFF")
        listener.wait_for(FRONT + "enabled", "OFF")
        listener.wait_for(FRONT + "camera", "offline")
        listener.publish(FRONT + "enabled/set", "ON")
        listener.wait_for(FRONT + "camera", "online")
        seen = len(listener.of(FRONT + "event"))
        listener.wait("a state", lambda me: len(me.of(FRONT + "event")) > seen)
        self.assertEqual(listener.payloads(FRONT + "enabled"), ["ON", "OFF", "ON"])

    def test_many_commands_are_few_changes_and_few_lines(self):
        _, listener, run = self.connected("--set", "mqtt.commands=true")
        for i in range(1000):
            listener.client.publish(FRONT + "enabled/set", "OFF" if i % 2 else "ON", 1)
        listener.publish(FRONT + "enabled/set", "OFF")
        listener.wait_for(FRONT + "enabled", "OFF")
        listener.publish(FRONT + "enabled/set", "ON")
        listener.wait_for(FRONT + "enabled", "ON")
        self.assertLess(len(listener.of(FRONT + "enabled")), 30)
        self.assertLess(run.count("by a command"), 12)

    def test_a_picture_is_taken(self):
        _, listener, _ = self.connected("--set", "mqtt.commands=true", source="test://red")
        listener.wait("a picture", lambda me: me.of(FRONT + "snapshot"))
        listener.publish(FRONT + "snapshot/set", "PRESS")
        listener.wait("another", lambda me: len(me.of(FRONT + "snapshot")) == 2)

    def test_retained_commands_are_ignored(self):
        broker = self.broker()
        listener = self.use(Listener(broker.port))
        listener.publish(FRONT + "enabled/set", "OFF", retain=True)
        self.run_on(broker, "--set", "mqtt.commands=true")
        listener.wait("events", lambda me: len(me.of(FRONT + "event")) > 5)
        self.assertEqual(listener.payloads(FRONT + "enabled"), ["ON"])

    def test_unless_they_are_permitted_all_are_ignored(self):
        _, listener, _ = self.connected()
        listener.publish(FRONT + "enabled/set", "OFF")
        seen = len(listener.of(FRONT + "event"))
        listener.wait("events", lambda me: len(me.of(FRONT + "event")) > seen + 5)
        self.assertEqual(listener.payloads(FRONT + "camera"), ["online"])


class AbsenceTest(HouseTest):
    def test_a_broker_that_comes_later_is_found(self):
        port = free_port()
        run = self.use(Run(f"mqtt://127.0.0.1:{port}"))
        run.wait_for(f"mqtt://127.0.0.1:{port} cannot be reached (Connection refused)")
        self.broker(port=port)
        listener = self.use(Listener(port))
        listener.wait("an event", lambda me: me.of(FRONT + "event"))
        self.assertEqual(run.count("cannot be reached"), 1)
        run.wait_for("connected to")
        self.assertEqual(run.count("connected to"), 1)

    def test_a_broker_that_comes_back_without_its_store_hears_everything_again(self):
        broker, _, run = self.connected(source="test://red")
        broker.kill()
        run.wait_for("was lost")
        broker.start()
        listener = self.use(Listener(broker.port))
        listener.wait_for(FRONT + "state", "red")
        listener.wait_for(FRONT + "available", "online")
        listener.wait("a picture", lambda me: me.of(FRONT + "snapshot"))
        listener.wait("the device", lambda me: any(m.topic.endswith("/config") for m in me.messages))
        self.assertEqual(listener.of(FRONT + "event"), [])
        run.wait_for("connected again")  # it may come later than what it tells of
        self.assertEqual(run.count("connected again"), 1)

    def test_a_run_ends_at_once_whatever_its_broker_does(self):
        broker, _, run = self.connected()
        broker.pause(True)
        begin = time.monotonic()
        self.assertEqual(run.stop(), 0)
        self.assertLess(time.monotonic() - begin, 10)  # as long as systemd waits
        broker.pause(False)


class StalledTest(HouseTest):
    """In a process of its own: it takes as long as all others together."""

    def test_a_stalled_broker_takes_no_memory_and_is_noticed(self):
        broker, listener, run = self.connected(source="test://all?hold=1")
        # What a run takes at its start it has taken by then.
        listener.wait("two pictures", lambda me: len(me.of(FRONT + "snapshot")) == 2)
        broker.pause(True)
        before = run.memory()
        deadline = time.monotonic() + STALL
        while time.monotonic() < deadline:
            time.sleep(1)
        growth = run.memory() - before
        run.wait_for("does not answer any more")
        print(f"stalled for {STALL:.0f} s at 30 changes a second: {growth:+.1f} MB")
        self.assertLess(growth, 5)
        broker.pause(False)
        run.wait_for("connected again")

    def test_a_connection_that_is_half_open_is_replaced(self):
        broker = self.broker()
        listener = self.use(Listener(broker.port))
        proxy = self.use(Proxy(broker.port))
        run = self.use(Run(f"mqtt://127.0.0.1:{proxy.port}", source="test://all?hold=30"))
        listener.wait_for(FRONT + "available", "online")
        proxy.cut()
        run.wait_for("does not answer any more")
        run.wait_for("connected again")
        listener.forget()
        listener.wait("an event", lambda me: me.of(FRONT + "event"))
        self.assertEqual(retained(broker.port)[FRONT + "available"], b"online")

    def test_a_server_that_says_nothing_is_given_up(self):
        server = self.use(Server())
        run = self.use(Run(f"mqtt://127.0.0.1:{server.port}"))
        run.wait_for("did not answer within 10 s: is it an MQTT broker?")


class RefusalTest(HouseTest):
    def refused(self, url, sentence, *options):
        run = self.use(Run(url, *options))
        run.wait_for("mqtt: ")
        self.assertEqual(run.count(sentence), 1, run.log)
        # And again in silence, when the next attempt has failed, too.
        with run.told:
            run.told.wait_for(lambda: False, 2.5)
        self.assertEqual(run.count("mqtt: "), 1, run.log)

    def test_users_and_passwords(self):
        folder = pathlib.Path(self.folder())
        subprocess.run(["mosquitto_passwd", "-b", "-c", folder / "users", "me", "right"], check=True)
        broker = self.broker(f"password_file {folder / 'users'}", anonymous=False)
        (folder / "wrong").write_text("wrong\n", encoding="ascii")
        (folder / "password").write_text("right\n", encoding="ascii")
        url = f"mqtt://me@127.0.0.1:{broker.port}"
        self.refused(url, "does not let this client in", "--set", f"mqtt.password-file={folder}/wrong")
        run = self.use(Run(url, "--set", f"mqtt.password-file={folder}/password"))
        run.wait_for("mqtt: connected to")
        self.assertNotIn("right", "\n".join(run.log))

    def test_certificates(self):
        folder = pathlib.Path(self.folder())
        make_certificates(folder)
        broker = self.broker(f"cafile {folder}/ca.pem", f"certfile {folder}/server.pem",
                             f"keyfile {folder}/server.key", "require_certificate true")  # fmt: skip
        own = ("--set", f"mqtt.certificate={folder}/client.pem", "--set", f"mqtt.key={folder}/client.key")
        ca = ("--set", f"mqtt.ca={folder}/ca.pem")
        url = f"mqtts://localhost:{broker.port}"
        run = self.use(Run(url, *ca, *own))
        run.wait_for("mqtt: connected to")
        self.refused(url, "cannot be trusted", *own)
        self.refused(url, "cannot be trusted", "--set", f"mqtt.ca={folder}/other-ca.pem", *own)
        self.refused(f"mqtts://127.0.0.1:{broker.port}", "is for another name", *ca, *own)
        self.refused(f"mqtt://localhost:{broker.port}", "closed the connection before it answered")

    def test_a_port_without_tls(self):
        broker = self.broker()
        self.refused(f"mqtts://localhost:{broker.port}", "is its port one for TLS?")

    def test_a_name_that_nobody_knows(self):
        self.refused("mqtt://no-such-host.invalid", "cannot be resolved")

    def test_two_runs_of_one_name(self):
        broker, _, first = self.connected()
        second = self.run_on(broker)
        second.wait_for("mqtt: connected to")
        # Mosquitto 2.0.11 does not tell why it closes a connection; 2.0.21 does.
        first.wait_for("another client t")
        self.assertTrue(first.count("has another client the name lookout-") or
                        first.count("another client took the name lookout-"), first.log)  # fmt: skip

    def test_topics_that_are_not_permitted(self):
        acl = pathlib.Path(self.folder()) / "acl"
        acl.write_text(f"topic readwrite {FRONT}state\ntopic read homeassistant/#\n", encoding="ascii")
        broker = self.broker(f"acl_file {acl}")
        run = self.run_on(broker)
        run.wait_for("does not permit lookout/front/event to be written")
        run.wait_for("does not permit lookout/front/camera to be written")
        self.assertEqual(run.count("does not permit lookout/front/event"), 1)
        self.assertEqual(run.count("lookout/front/state to be written"), 0)

    def test_messages_that_are_too_large(self):
        for limit in ("max_packet_size 5000", "message_size_limit 5000"):
            with self.subTest(limit):
                broker = self.broker(limit)
                listener = self.use(Listener(broker.port))
                run = self.run_on(broker)
                run.wait_for("takes no message of")
                seen = len(listener.of(FRONT + "event"))
                listener.wait("events", lambda me, seen=seen: len(me.of(FRONT + "event")) > seen)
                self.assertEqual(run.count("takes no message of"), 1)
                self.assertEqual(run.count("lost"), 0)
                self.assertEqual(listener.of(FRONT + "snapshot"), [])


class UnixTest(HouseTest):
    def test_a_broker_on_the_same_machine(self):
        path = pathlib.Path(self.folder()) / "mosquitto.sock"
        self.broker(unix=path)
        run = self.use(Run(f"mqtt+unix:{path}"))
        run.wait_for(f"mqtt: connected to mqtt+unix:{path}")
        self.assertEqual(run.stop(), 0)


def main():
    if len(sys.argv) > 1:
        unittest.main()
    # The slow ones and the others side by side.
    slow = subprocess.Popen([sys.executable, __file__, "StalledTest"])
    names = [name for name, kind in globals().items()
             if re.fullmatch(r"[A-Z]\w+Test", name) and name not in ("HouseTest", "StalledTest")]  # fmt: skip
    others = unittest.main(argv=[sys.argv[0], *names], exit=False)
    sys.exit(slow.wait() != 0 or not others.result.wasSuccessful())


if __name__ == "__main__":
    main()
