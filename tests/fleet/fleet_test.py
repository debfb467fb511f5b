#!/usr/bin/python3
"""deploy/fleet with a real Prometheus: rules, alerts, and every query of the dashboard.

  fleet_test.py [NAME...]    names as of unittest

Prometheus scrapes two runs of lookout, and eight boards with known figures (stand_in.py). Needs
build/host/app/lookout and Debian's prometheus, which brings promtool; the dashboard's test also needs
Grafana's SDK of PyPI. Everything is on loopback, in a temporary folder. Exit status 77 (skipped)
without Prometheus.
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/fleet"), str(ROOT / "tests/tools")]
sys.dont_write_bytecode = True

import pypi_program  # noqa: E402
import stand_in  # noqa: E402

LOOKOUT = ROOT / "build/host/app/lookout"
FLEET = ROOT / "deploy/fleet"
DASHBOARD = json.loads((FLEET / "dashboard.json").read_text())
SDK = ("grafana-foundation-sdk==1769699379!11.6.0", "grafana_foundation_sdk/__init__.py")
LIMIT = 120  # s, for what should come soon
TOKEN = "a token of the fleet"
KNOWN = "lookout-known"  # the job of the boards with known figures
# Which not every board reports.
OF_MACHINES = {"lookout_throttled", "lookout_soc_temperature_celsius", "lookout_mqtt_connected"}
# Seconds a frame: of the whole fleet 0.0300 in the convolution, 85.1 % of 0.03525.
USUAL = {"conv": 0.028, "add": 0.00425, "linear": 0.001}
SLOW = {**USUAL, "conv": 0.058}
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def promtool(*arguments, text=None):
    return subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True)


def wait_for(what, is_so):
    end = time.monotonic() + LIMIT
    while not (value := is_so()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {LIMIT} s: {what}")
        time.sleep(0.2)
    return value


def start(*command):
    return subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def replaced(text, *pairs):
    for pattern, new in pairs:
        text, count = re.subn(pattern, new, text)
        assert count, pattern
    return text


def config_of(folder, boards):
    """The example and the rules with other places, and with seconds for minutes."""
    config = replaced(
        (FLEET / "prometheus.yml").read_text(),
        ("/etc/prometheus", str(folder)),
        ("scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s"),
    )
    rules = replaced(
        (FLEET / "lookout.rules.yml").read_text(), (r"\[5m\]", "[30s]"), (r"for: \d+m", "for: 2s")
    )
    (folder / "lookout.rules.yml").write_text(rules)
    (folder / "lookout.token").write_text(TOKEN + "\n")
    (folder / "lookout-boards.json").write_text(json.dumps(boards))
    (folder / "prometheus.yml").write_text(config)
    return folder / "prometheus.yml"


def lost(given, kept, path="dashboard"):
    """Yields the places of `given` that are not in `kept`."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            yield from lost(value, kept.get(key), f"{path}.{key}")
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for i, (value, other) in enumerate(zip(given, kept)):
            yield from lost(value, other, f"{path}[{i}]")
    elif given != kept:
        yield f"{path}: {given!r} became {kept!r}"


class FleetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        cls.boards = [free_port(), free_port()]
        cls.port = free_port()
        watches = ["--set", "watch.left.roi=0,0,0.5,1", "--set", "watch.right.roi=0.5,0,0.5,1"]
        for fps, port, more in zip((20, 5), cls.boards, ([], watches)):
            cls.start(
                LOOKOUT, f"test://all?fps={fps}", "--set", "profile.op-sampling=0.5", "--threads", "1",
                "--set", f"http.address=127.0.0.1:{port}",
                "--set", f"http.token-file={folder / 'lookout.token'}", *more,
            )  # fmt: skip
        cls.known = [stand_in.StandIn(TOKEN, USUAL) for _ in range(3)]
        cls.slow = stand_in.StandIn(TOKEN, SLOW, fps=15)
        cls.away = stand_in.StandIn(TOKEN, USUAL, camera_up=0)
        cls.throttled = stand_in.StandIn(TOKEN, USUAL, throttled=1)
        cls.guessed = stand_in.StandIn(TOKEN, USUAL, guesses=1, restarts=0.5)
        cls.busy = stand_in.StandIn(TOKEN, USUAL, busy=1, broker=0, sha256="cdef01234567")
        cls.known += [cls.slow, cls.away, cls.throttled, cls.guessed, cls.busy]
        for board in cls.known:
            cls.addClassCleanup(board.close)
        cls.silent = f"127.0.0.1:{free_port()}"
        known = [*(board.address for board in cls.known), cls.silent]
        config = config_of(
            folder,
            [
                {"targets": [f"127.0.0.1:{port}" for port in cls.boards]},
                {"targets": known, "labels": {"job": KNOWN}},
            ],
        )
        cls.start(
            "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{cls.port}",
        )  # fmt: skip

    @classmethod
    def start(cls, *command):
        process = start(*command)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.terminate)

    def ask(self, query):
        """The rows of an answer; nothing while Prometheus starts."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        try:
            with OPENER.open(url, timeout=LIMIT) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            if error.code == 503:
                return []
            raise AssertionError(f"{query}: {error.read()}") from None
        except urllib.error.URLError:
            return []

    def test_rules_and_configuration(self):
        self.assertIn("SUCCESS", promtool("check", "rules", FLEET / "lookout.rules.yml").stdout)
        with tempfile.TemporaryDirectory() as folder:
            config = config_of(pathlib.Path(folder), [])
            checked = promtool("check", "config", config)
            self.assertEqual(checked.returncode, 0, checked.stderr)
        for test in ("rules_test.yml", "drift_test.yml"):
            tested = promtool("test", "rules", ROOT / "tests/fleet" / test)
            self.assertEqual(tested.returncode, 0, tested.stdout + tested.stderr)

    def metrics(self):
        """The text of a run."""
        wait_for("two boards", lambda: len(self.ask('up{job="lookout"} == 1')) == 2)
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.boards[0]}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        with OPENER.open(request, timeout=LIMIT) as answer:
            return answer.read().decode()

    def test_metrics(self):
        self.provoke()
        checked = promtool("check", "metrics", text=self.metrics())
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_boards_that_are_none_have_the_names_of_real_ones(self):
        known, real = (
            set(re.findall(r"(?m)^# TYPE (\S+)", text)) for text in (self.known[0].text(), self.metrics())
        )
        self.assertLessEqual(known - OF_MACHINES, real)

    def test_watches_have_states_of_their_own(self):
        query = self.query("Share of the time in each state", "lookout")

        def watches():
            board = f"127.0.0.1:{self.boards[1]}"
            rows = [row["metric"] for row in self.ask(query) if row["metric"]["instance"] == board]
            return {row["watch"] for row in rows} == {"left", "right"}

        wait_for("the states of two watches", watches)

    def test_operators_of_the_fleet(self):
        shares = wait_for(
            "shares", lambda: self.ask('job_operator:lookout_operator_self_seconds:share5m{job="lookout"}')
        )
        self.assertAlmostEqual(sum(float(row["value"][1]) for row in shares), 1, places=3)

    def wait_for_values(self, query, expected, digits):
        """Waits until the answer has these values in these boards, or one of none in particular."""

        def is_so():
            rows = self.ask(query)
            found = {row["metric"].get("instance"): round(float(row["value"][1]), digits) for row in rows}
            return found == expected

        wait_for(f"{query} = {expected}", is_so)

    def test_known_times_of_operators(self):
        sums = f'job_operator:lookout_operator_self_seconds:%s5m{{job="{KNOWN}",operator="conv"}}'
        self.wait_for_values(sums % "per_frame", {None: 0.03}, 4)
        self.wait_for_values(sums % "share", {None: 0.851}, 3)
        each = f'instance_operator:lookout_operator_self_seconds:per_frame5m{{job="{KNOWN}",operator="conv"}}'
        expected = {board.address: board.operators["conv"] for board in self.known}
        self.wait_for_values(each, expected, 4)
        self.wait_for_values(f"topk(1, {each})", {self.slow.address: 0.058}, 4)
        frames = sum(board.fps for board in self.known)
        self.wait_for_values(f'job:lookout_frames_classified:rate5m{{job="{KNOWN}"}}', {None: frames}, 0)

    def test_known_percentiles(self):
        ages = {board.address: stand_in.P95 for board in self.known}
        self.wait_for_values(f'instance:lookout_frame_age_seconds:p95_5m{{job="{KNOWN}"}}', ages, 4)
        stages = f'job_stage:lookout_stage_duration_seconds:p95_5m{{job="{KNOWN}",stage="inference"}}'
        self.wait_for_values(stages, {None: stand_in.P95}, 4)

    def query(self, title, job):
        panel = next(panel for panel in DASHBOARD["panels"] if panel["title"] == title)
        return panel["targets"][0]["expr"].replace("$job", job).replace("$instance", ".*")

    def known_query(self, title):
        return self.query(title, KNOWN)

    def test_known_states_models_and_brokers(self):
        self.wait_for_values(self.known_query("Brokers that are away"), {None: 1}, 0)
        self.wait_for_values(self.known_query("Models"), {None: 2}, 0)
        query = self.known_query("Share of the time in each state").replace("[5m]", "[30s]")
        shares = {state: share for state, share in stand_in.STATES.items() if share > 0}

        def found():
            rows = [row for row in self.ask(query) if row["metric"]["instance"] == self.slow.address]
            return {row["metric"]["state"]: round(float(row["value"][1]), 3) for row in rows} == shares

        wait_for("the states", found)

    def test_real_boards_do_not_restart_and_have_a_model(self):
        self.metrics()
        starts = wait_for("starts", lambda: self.ask('process_start_time_seconds{job="lookout"}'))
        wait_for(
            "ten scrapes",
            lambda: all(
                float(row["value"][1]) >= 10
                for row in self.ask('count_over_time(process_start_time_seconds{job="lookout"}[1h])')
            ),
        )
        changes = self.ask('changes(process_start_time_seconds{job="lookout"}[1h])')
        self.assertEqual([row["value"][1] for row in changes], ["0"] * len(starts))
        for row in self.ask('lookout_model_info{job="lookout"}'):
            self.assertRegex(row["metric"]["sha256"], "^[0-9a-f]{12}$")

    def test_alerts(self):
        expected = {
            ("LookoutDown", self.silent),
            ("LookoutCameraAway", self.away.address),
            ("LookoutThrottled", self.throttled.address),
            ("LookoutRestarts", self.guessed.address),
            ("LookoutBrokerAway", self.busy.address),
            ("LookoutFallsBehind", self.slow.address),
            ("LookoutSlowOperator", self.slow.address),
            ("LookoutWrongTokens", self.guessed.address),
            ("LookoutTooManyPictures", self.busy.address),
        }

        def firing():
            alerts = self.ask(f'ALERTS{{alertstate="firing",job="{KNOWN}"}}')
            return {(row["metric"]["alertname"], row["metric"]["instance"]) for row in alerts}

        wait_for("the alerts", lambda: firing() >= expected)
        self.assertEqual(firing(), expected)

    def queries(self):
        for panel in DASHBOARD["panels"]:
            for target in panel.get("targets", []):
                query = target["expr"]
                # Of the real boards, where they can tell.
                job = KNOWN if any(name in query for name in OF_MACHINES) else "lookout"
                yield panel["title"], query.replace("$instance", ".*").replace("$job", job)

    def provoke(self):
        """Something to count: a request that is refused."""
        self.metrics()
        with self.assertRaises(urllib.error.HTTPError) as error:
            OPENER.open(f"http://127.0.0.1:{self.boards[0]}/state", timeout=LIMIT)
        self.assertEqual(error.exception.code, 401)

    def test_every_query_of_the_dashboard_has_an_answer(self):
        self.provoke()
        for title, query in self.queries():
            with self.subTest(title):
                wait_for(query, lambda: self.ask(query))  # pylint: disable=cell-var-from-loop

    def test_the_slowest_operator_is_the_first_of_its_table(self):
        query = self.known_query("Operators that take the most of their fleet's median")
        first = wait_for(query, lambda: self.ask(query))[0]
        self.assertEqual(
            (first["metric"]["instance"], first["metric"]["operator"]), (self.slow.address, "conv")
        )
        self.assertAlmostEqual(float(first["value"][1]), 0.058 / 0.028, places=3)


class DashboardTest(unittest.TestCase):
    def test_grafana_knows_every_field(self):
        try:
            folder = pypi_program.install_file(*SDK).parent.parent
        except pypi_program.Unavailable as reason:
            self.skipTest(str(reason))
        sys.path.append(str(folder))
        from grafana_foundation_sdk.cog.encoder import JSONEncoder
        from grafana_foundation_sdk.cog.plugins import register_default_plugins
        from grafana_foundation_sdk.models.dashboard import Dashboard

        def read_and_written(dashboard):
            return json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))

        register_default_plugins()
        self.assertEqual(list(lost(DASHBOARD, read_and_written(DASHBOARD))), [])
        misspelt = json.loads(json.dumps(DASHBOARD).replace('"legendFormat"', '"legendFromat"'))
        self.assertIn("legendFromat", "".join(lost(misspelt, read_and_written(misspelt))))

    def test_panels_do_not_overlap(self):
        panels = DASHBOARD["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            cells = {
                (x, y)
                for x in range(place["x"], place["x"] + place["w"])
                for y in range(place["y"], place["y"] + place["h"])
            }
            self.assertFalse(cells & taken, panel["title"])
            self.assertLessEqual(place["x"] + place["w"], 24)
            taken |= cells
            if panel["type"] != "row":
                self.assertIn("unit", panel["fieldConfig"]["defaults"])


if __name__ == "__main__":
    for program in ("prometheus", "promtool"):
        if not shutil.which(program):
            print(f"skipped: no {program}: deploy/install-deps.sh --fleet")
            sys.exit(77)
    unittest.main()
