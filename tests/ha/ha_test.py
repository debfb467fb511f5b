#!/usr/bin/python3
"""lookout in a real Home Assistant, with a real mosquitto of Debian 13 between them.

  ha_test.py [NAME...]    names as of unittest

Needs root, build/host/app/lookout, what install-deps.sh --mqtt installs, and the root that make-root.sh
makes in the cache. Exits with 77 where that cannot be made.
"""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mqtt"))


def find_root():
    """The root with Home Assistant, whose mosquitto house.py then takes."""
    made = subprocess.run([HERE / "make-root.sh"], stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode != 0:
        print("skipped: there is no Home Assistant here")
        sys.exit(77)
    root = pathlib.Path(made.stdout.splitlines()[-1])
    loader = next(root.glob("usr/lib*/ld-linux-*.so.*"))
    libraries = next(root.glob("usr/lib/*-linux-gnu"))
    os.environ["LOOKOUT_MOSQUITTO"] = f"{loader} --library-path {libraries} {root}/usr/sbin/mosquitto"
    return root


ROOT = find_root()
try:
    from home_assistant import HomeAssistant
    from house import LOOKOUT, Broker, Run, retained
except ImportError as missing:
    print(f"skipped: {missing}; deploy/install-deps.sh --mqtt installs what is needed")
    sys.exit(77)

LABELS = {"black", "blue", "checkers", "color bars", "color squares", "cross", "gray", "gray ramp", "green",
          "horizontal color bars", "horizontal lines", "noise", "red", "red-blue checkers", "vertical lines",
          "white"}  # fmt: skip
# Whatever the machine is; the temperature and the throttling come where there are any.
ENTITIES = {"sensor.front_state", "sensor.front_score", "event.front_change", "image.front_last_change",
            "camera.front_picture", "binary_sensor.front_camera", "sensor.front_rate",
            "sensor.front_latency", "switch.front_enabled", "button.front_take_a_picture"}  # fmt: skip


class InHouse(unittest.TestCase):
    """Tests that share a broker and a Home Assistant that knows it, which starts slowly."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.broker = Broker()
        cls.addClassCleanup(cls.broker.close)
        cls.home = HomeAssistant(ROOT)
        cls.addClassCleanup(cls.home.close)
        cls.home.set_up(cls.broker.port)


class HomeAssistantTest(InHouse):
    """The tests build on each other, in the order of their names: Home Assistant starts slowly."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.run_of_camera = None
        cls.start("test://all?hold=60")
        cls.addClassCleanup(lambda: cls.run_of_camera.close())

    @classmethod
    def start(cls, source):
        cls.run_of_camera = Run(
            f"mqtt://127.0.0.1:{cls.broker.port}", "--set", "mqtt.commands=true", "--set",
            "mqtt.interval=5s", source=source, environment={"LOOKOUT_LOG_STATS_INTERVAL": "5s"},
        )  # fmt: skip

    def has_figures(self):
        return self.home.state("sensor.front_rate") not in (None, "unknown", "unavailable")

    def test_1_entities_appear_by_themselves_and_follow(self):
        home = self.home
        home.wait("a state", lambda: home.state("sensor.front_state") in LABELS)
        home.wait("figures", self.has_figures)
        states = home.states()
        self.assertEqual(ENTITIES - set(states), set())
        self.assertGreater(float(states["sensor.front_rate"]["state"]), 1)
        self.assertEqual(states["binary_sensor.front_camera"]["state"], "on")
        self.assertEqual(states["switch.front_enabled"]["state"], "on")
        attributes = states["sensor.front_state"]["attributes"]
        self.assertEqual(set(attributes["options"]), LABELS | {"unknown"})
        self.assertIn(attributes["results"][0]["label"], LABELS)
        self.assertEqual(states["sensor.front_latency"]["attributes"]["unit_of_measurement"], "ms")

    def test_2_the_event_fires_an_automation(self):
        home = self.home
        home.wait("an automation", lambda: int(home.state("counter.changes")) > 1)
        self.assertIn(home.state("input_text.last"), LABELS)

    def test_3_pictures_come(self):
        for path in ("api/image_proxy/image.front_last_change", "api/camera_proxy/camera.front_picture"):
            self.assertEqual(self.home.ask("GET", path)[:2], b"\xff\xd8", path)

    def test_4_the_switch_releases_the_camera(self):
        home = self.home
        home.call("switch.turn_off", entity_id="switch.front_enabled")
        home.wait_for("switch.front_enabled", "off")
        home.wait_for("binary_sensor.front_camera", "off")
        home.wait_for("sensor.front_state", "unavailable")
        home.call("switch.turn_on", entity_id="switch.front_enabled")
        home.wait("a state", lambda: home.state("sensor.front_state") in LABELS)

    def test_5_a_killed_run_is_unavailable_and_comes_back_with_its_state(self):
        home = self.home
        self.run_of_camera.stop(signal.SIGKILL)
        home.wait_for("sensor.front_state", "unavailable")
        self.start("test://red")
        home.wait_for("sensor.front_state", "red")
        home.wait_for("binary_sensor.front_camera", "on")

    def test_6_the_button_takes_a_picture(self):
        home = self.home
        home.wait("the picture", lambda: home.state("image.front_last_change") != "unavailable")
        before = home.state("image.front_last_change")
        home.call("button.press", entity_id="button.front_take_a_picture")
        home.wait("another", lambda: home.state("image.front_last_change") > before)

    def test_6_a_restart_fires_the_automation_when_the_state_is_another_one(self):
        home = self.home
        changes = int(home.state("counter.changes"))
        for source in ("red", "green"):
            self.assertEqual(self.run_of_camera.stop(), 0)
            home.wait_for("sensor.front_state", "unavailable")
            self.start(f"test://{source}")
            home.wait_for("sensor.front_state", source)
        home.wait_for("input_text.last", "green")
        self.assertEqual(int(home.state("counter.changes")), changes + 1)
        self.assertEqual(home.states()["event.front_change"]["attributes"]["previous"], "red")
        self.assertEqual(self.run_of_camera.stop(), 0)
        self.start("test://red")
        home.wait_for("input_text.last", "red")

    def test_7_states_survive_a_restart_of_home_assistant(self):
        home = self.home
        changes = home.state("counter.changes")
        home.stop()
        home.start()
        home.wait_for("sensor.front_state", "red")
        home.wait("figures", self.has_figures)
        self.assertEqual(home.state("counter.changes"), changes)

    def test_8_a_broker_without_its_store_hears_everything_again(self):
        home = self.home
        self.broker.kill()
        home.wait_for("sensor.front_state", "unavailable")
        self.broker.start()
        home.wait_for("sensor.front_state", "red")

    def test_9_a_forgotten_camera_is_gone(self):
        home = self.home
        self.assertEqual(self.run_of_camera.stop(), 0)
        home.wait_for("sensor.front_state", "unavailable")
        done = subprocess.run(
            [LOOKOUT, "mqtt", "forget", "--config", "", "--mqtt", f"mqtt://127.0.0.1:{self.broker.port}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        home.wait("the end", lambda: not ENTITIES & set(home.states()))

    @classmethod
    def tearDownClass(cls):
        expect_no_complaint(cls.home)


WATCHES = {"gate": "0,0,0.5,1", "lamp": "0.5,0,0.5,1", "box": "0,0,1,0.5"}


class WatchesTest(InHouse):
    """Two cameras with three watches each. The tests build on each other, too."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.runs = {}
        cls.addClassCleanup(lambda: [run.close() for run in cls.runs.values()])
        for camera in ("front", "back"):
            cls.start(camera, WATCHES)

    @classmethod
    def start(cls, camera, watches, *options):
        """In place of the run before."""
        if camera in cls.runs:
            assert cls.runs.pop(camera).stop() == 0
        for name in watches:
            options = (*options, "--set", f"watch.{name}.roi={WATCHES[name]}")
        cls.runs[camera] = Run(
            f"mqtt://127.0.0.1:{cls.broker.port}", "--set", "mqtt.interval=5s", *options, name=camera,
            source="test://red", environment={"LOOKOUT_LOG_STATS_INTERVAL": "5s"},
        )  # fmt: skip

    @staticmethod
    def of_watches(camera, watches):
        return {entity for name in watches for entity in (
            f"sensor.{camera}_{name}_state", f"sensor.{camera}_{name}_score", f"event.{camera}_{name}_change",
            f"image.{camera}_{name}_last_change", f"camera.{camera}_{name}_picture")}  # fmt: skip

    @staticmethod
    def of_camera(camera):
        return {f"binary_sensor.{camera}_camera", f"sensor.{camera}_rate", f"sensor.{camera}_latency"}

    def known(self):
        """All that Home Assistant has registered for MQTT, but for what only some machines have."""
        entities = set(self.home.template("{{ integration_entities('mqtt') | join(' ') }}").split())
        return {entity for entity in entities if not entity.endswith(("_temperature", "_throttled"))}

    def expect(self, **watches):
        """Exactly the entities of these cameras with these watches."""
        expected = set()
        for camera, names in watches.items():
            expected |= self.of_camera(camera) | self.of_watches(camera, names)
        try:
            self.home.wait("the entities", lambda: self.known() == expected)
        except AssertionError as error:
            known = self.known()
            raise AssertionError(f"missing {expected - known}; left behind {known - expected}; {error}") from error

    def test_1_entities_of_each_watch_appear_by_themselves(self):
        self.expect(front=WATCHES, back=WATCHES)
        for camera in ("front", "back"):
            for name in WATCHES:
                self.home.wait_for(f"sensor.{camera}_{name}_state", "red")
        devices = {
            self.home.template(f"{{{{ device_id('{entity}') }}}}")
            for entity in self.of_camera("front") | self.of_watches("front", WATCHES)
        }
        self.assertEqual(len(devices), 1, "one device per camera")
        for path in ("image_proxy/image.front_gate_last_change", "camera_proxy/camera.back_lamp_picture"):
            self.assertEqual(self.home.ask("GET", f"api/{path}")[:2], b"\xff\xd8", path)

    def test_2_another_title_keeps_the_entities(self):
        self.start("front", WATCHES, "--set", "watch.gate.title=Garden gate")
        entity = "sensor.front_gate_state"

        def is_renamed():
            state = self.home.states().get(entity, {})
            return state.get("attributes", {}).get("friendly_name") == "front Garden gate state"

        self.home.wait("the name", is_renamed)
        self.home.wait_for(entity, "red")
        self.expect(front=WATCHES, back=WATCHES)

    def test_3_a_removed_watch_leaves_nothing(self):
        self.start("front", ["gate", "lamp"])
        self.expect(front=["gate", "lamp"], back=WATCHES)
        self.home.wait_for("sensor.front_gate_state", "red")
        # And is there when it is back.
        self.start("front", WATCHES)
        self.expect(front=WATCHES, back=WATCHES)
        self.home.wait_for("sensor.front_box_state", "red")

    def test_4_a_renamed_section_is_another_watch(self):
        self.start("front", ["gate", "lamp"], "--set", "watch.door.roi=0,0,1,0.5")
        self.expect(front=["gate", "lamp", "door"], back=WATCHES)
        self.home.wait_for("sensor.front_door_state", "red")

    def test_5_from_names_to_none_and_back(self):
        self.start("front", [])
        plain = {"sensor.front_state", "sensor.front_score", "event.front_change", "image.front_last_change",
                 "camera.front_picture"}  # fmt: skip
        expected = (self.of_camera("front") | plain | self.of_camera("back")
                    | self.of_watches("back", WATCHES))  # fmt: skip
        self.home.wait("the camera's own", lambda: self.known() == expected)
        self.home.wait_for("sensor.front_state", "red")
        self.start("front", WATCHES)
        self.expect(front=WATCHES, back=WATCHES)
        self.home.wait_for("sensor.front_lamp_state", "red")

    def test_6_all_survives_a_restart_of_home_assistant(self):
        self.home.stop()
        self.home.start()
        for camera in ("front", "back"):
            self.home.wait_for(f"sensor.{camera}_lamp_state", "red")
        self.expect(front=WATCHES, back=WATCHES)

    def test_7_forgotten_cameras_are_gone(self):
        for camera in ("front", "back"):
            self.assertEqual(self.runs.pop(camera).stop(), 0)
            done = subprocess.run(
                [LOOKOUT, "mqtt", "forget", "--config", "", "--mqtt", f"mqtt://127.0.0.1:{self.broker.port}",
                 "--set", f"camera.name={camera}"], capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stderr)
        self.home.wait("the end", lambda: not self.known())
        self.assertEqual(retained(self.broker.port), {})

    @classmethod
    def tearDownClass(cls):
        expect_no_complaint(cls.home)


def expect_no_complaint(home):
    ours = [line for line in home.log().splitlines() if "front" in line or "back_" in line or "lookout" in line]
    lines = [line for line in ours if "WARNING" in line or "ERROR" in line]
    if lines:
        raise AssertionError("Home Assistant complains:\n" + "\n".join(lines))


if __name__ == "__main__":
    unittest.main()
