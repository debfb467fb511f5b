#!/usr/bin/python3
"""deploy/fleet with a real Prometheus: rules, alerts, and every query of the dashboard.

  fleet_test.py [NAME...]    names as of unittest

Needs build/host/app/lookout and Debian's prometheus, which brings promtool. Everything is on
loopback, in a temporary folder. Exit status 77 (skipped) without them.
"""

import json
import pathlib
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
LOOKOUT = ROOT / "build/host/app/lookout"
FLEET = ROOT / "deploy/fleet"
LIMIT = 120  # s, for what should come soon
TOKEN = "a token of the fleet"
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


def config_of(folder, ports):
    """The example with other places and times."""
    text = (FLEET / "prometheus.yml").read_text()
    for old, new in (
        ("/etc/prometheus", str(folder)),
        ("scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s"),
        ("lookout.rules.yml", str(FLEET / "lookout.rules.yml")),
    ):
        assert old in text, old
        text = text.replace(old, new)
    (folder / "lookout.token").write_text(TOKEN + "\n")
    boards = [{"targets": [f"127.0.0.1:{port}" for port in ports]}]
    (folder / "lookout-boards.json").write_text(json.dumps(boards))
    (folder / "prometheus.yml").write_text(text)
    return folder / "prometheus.yml"


class FleetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        ports = [free_port(), free_port()]
        cls.port = free_port()
        config = config_of(folder, ports)
        commands = [
            [LOOKOUT, f"test://all?fps={fps}", "--op-sampling", "0.5", "--threads", "1",
             "--set", f"http.address=127.0.0.1:{port}",
             "--set", f"http.token-file={folder / 'lookout.token'}"]
            for fps, port in zip((20, 5), ports)
        ]  # fmt: skip
        commands.append(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{cls.port}"]
        )  # fmt: skip
        cls.boards = ports
        for command in commands:
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
            config = config_of(pathlib.Path(folder), [1])
            checked = promtool("check", "config", config)
            self.assertEqual(checked.returncode, 0, checked.stderr)
        tested = promtool("test", "rules", ROOT / "tests/fleet/rules_test.yml")
        self.assertEqual(tested.returncode, 0, tested.stdout + tested.stderr)

    def test_metrics(self):
        wait_for("two boards", lambda: len(self.ask("up == 1")) == 2)
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.boards[0]}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
        )
        with OPENER.open(request, timeout=LIMIT) as answer:
            checked = promtool("check", "metrics", text=answer.read().decode())
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_operators_of_the_fleet(self):
        shares = wait_for(
            "shares", lambda: self.ask("job_operator:lookout_operator_self_seconds:share5m")
        )
        self.assertAlmostEqual(sum(float(row["value"][1]) for row in shares), 1, places=3)

    def queries(self):
        for panel in json.loads((FLEET / "dashboard.json").read_text())["panels"]:
            for target in panel.get("targets", []):
                expression = target["expr"].replace("$instance", ".*").replace("$job", ".*")
                yield panel["title"], expression

    def test_every_query_of_the_dashboard_has_an_answer(self):
        for title, query in self.queries():
            with self.subTest(title):
                wait_for(query, lambda: self.ask(query))  # pylint: disable=cell-var-from-loop

    def test_panels_do_not_overlap(self):
        panels = json.loads((FLEET / "dashboard.json").read_text())["panels"]
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
