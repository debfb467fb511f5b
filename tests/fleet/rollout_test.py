#!/usr/bin/python3
"""deploy/fleet/ansible with real Ansible, apt and Prometheus: a version and a model go to a canary first, and back.

  rollout_test.py [NAME...]    names as of unittest

Three roots of Debian's stand for boards; Ansible enters them by chroot. They have no systemd, so that the steps of
services are left out. Packages named as lookout's, with a program that does nothing, come from a repository that
apt-repository.sh makes. Prometheus asks a server for each board, which tells the version that dpkg of the root
knows: version 0.3 has its camera away, and so has the model "blind". Needs root, ansible, apt-ftparchive, gpg,
mmdebstrap and prometheus; exit status 77 (skipped) without. The base of the roots stays in LOOKOUT_CACHE.
"""

import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/fleet")]
sys.dont_write_bytecode = True

import fleet_test  # noqa: E402
import stand_in  # noqa: E402

ANSIBLE = ROOT / "deploy/fleet/ansible"
TOKEN = "a token of the fleet"
ENGINE = "lookout-onnxruntime"
BOARDS = ("front", "back", "gate")
PROGRAMS = ("ansible-playbook", "apt-ftparchive", "gpg", "mmdebstrap", "prometheus")
CACHE = pathlib.Path(
    os.environ.get("LOOKOUT_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "lookout"
)


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def base_root():
    root = CACHE / "fleet-board"
    if not root.exists():
        run(ROOT / "toolchains/make-root.sh", "bookworm", root, "--variant=apt", "--include=python3,python3-apt")
    return root


def make_deb(folder, name, version, control="", files=()):
    """A package with files, {path: text}; those in usr/bin can be run."""
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    (tree / "DEBIAN").mkdir(parents=True)
    architecture = run("dpkg", "--print-architecture").strip()
    (tree / "DEBIAN/control").write_text(
        f"Package: {name}\nVersion: {version}\nArchitecture: {architecture}\n"
        f"Maintainer: test <test@lookout.invalid>\nDescription: test\n{control}"
    )
    for path, text in dict(files).items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
        (tree / path).chmod(0o755 if "bin/" in path or "DEBIAN/" in path else 0o644)
    deb = folder / f"{name}_{version}_{architecture}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "-b", tree, deb)
    return deb


def make_packages(folder):
    for version in ("0.2.0+deb12", "0.2.1+deb12", "0.3.0+deb12"):
        yield make_deb(
            folder, "lookout", version, f"Depends: {ENGINE} (= {version})\n",
            {
                "usr/bin/lookout": "#!/bin/sh\nexit 0\n",
                "etc/lookout/lookout.toml": "",
                "etc/lookout/conf.d/README": "",
                "DEBIAN/postinst": "#!/bin/sh\ngetent passwd lookout >/dev/null || useradd -r lookout\n",
            },
        )  # fmt: skip
        yield make_deb(folder, ENGINE, version, f"Depends: lookout (= {version})\n")


class Board(stand_in.StandIn):
    """Tells what is installed in a root."""

    def __init__(self, root):
        self.root = root
        super().__init__(TOKEN, {"conv": 0.01})

    def version(self):
        status = (self.root / "var/lib/dpkg/status").read_text()
        found = re.search(r"(?m)^Package: lookout\nStatus: install ok installed\n(?:.+\n)*?Version: (\S+)", status)
        return found[1] if found else ""

    def settings(self):
        file = self.root / "etc/lookout/conf.d/70-fleet.toml"
        return file.read_text() if file.exists() else ""

    def text(self):
        version = self.version()
        self.camera_up = int(not (version.startswith("0.3") or "blind" in self.settings()))
        if (self.root / "etc/lookout/fleet.token").exists():
            self.camera_up &= "blind" not in (self.root / "etc/lookout/fleet.token").read_text()
        return super().text().replace('version="0"', f'version="{version.partition("+")[0]}"')


def quiet_server(folder):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def installed(name, version, state="install"):
    """What dpkg writes down of such a package."""
    return (
        f"Package: {name}\nStatus: {state} ok installed\nArchitecture: all\nVersion: {version}\n"
        "Maintainer: test <test@lookout.invalid>\nDescription: test\n\n"
    )


class MemoryTest(unittest.TestCase):
    """What a board remembers, and goes back to: the role's tasks of these alone, without Prometheus or a repository."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=CACHE)
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.root = self.folder / "board"
        run("cp", "-a", "--reflink=auto", base_root(), self.root)
        self.memory = self.root / "var/lib/lookout-fleet"
        self.model = self.folder / "gate.head"
        self.model.write_bytes(b"\xff\x00 the first model")
        self.token = self.folder / "token"
        self.token.write_text("the first token")
        self.place = self.root / "usr/local/share/lookout/gate.head"
        self.place.parent.mkdir(parents=True)
        self.install("0.2.0+deb12")

    def install(self, version):
        status = self.root / "var/lib/dpkg/status"
        others = [part for part in status.read_text().split("\n\n") if part and "Package: lookout" not in part]
        status.write_text(
            "".join(part + "\n\n" for part in others)
            + installed("lookout", version, "hold")
            + installed(ENGINE, version)
            + installed("lookout-base", version)
        )

    def board_does(self, *tasks):
        """These tasks of the role; returns whether it remembered something."""
        values = {
            "ansible_connection": "community.general.chroot",
            "ansible_host": str(self.root),
            "ansible_python_interpreter": "/usr/bin/python3",
            "lookout_has_systemd": False,
            "lookout_version": "0.2.0+deb12",
            "lookout_model": str(self.model),
            "lookout_token_file": str(self.token),
        }
        inventory = self.folder / "boards.json"
        inventory.write_text(json.dumps({"boards": {"hosts": {"board": values}}}))
        play = {
            "hosts": "boards",
            "gather_facts": False,
            "tasks": [{"ansible.builtin.include_role": {"name": "lookout", "tasks_from": task}} for task in tasks],
        }
        playbook = self.folder / "play.yml"
        playbook.write_text(json.dumps([play]))
        output = run(
            "ansible-playbook", "-i", inventory, playbook,
            env={**os.environ, "ANSIBLE_ROLES_PATH": str(ANSIBLE / "roles"), "ANSIBLE_NOCOWS": "1"},
        )  # fmt: skip
        return bool(re.search(r"TASK \[lookout : Remember\] \*+\nchanged", output))

    def packages(self):
        return (self.memory / "packages").read_text().split()

    def expected_packages(self, version):
        return sorted(f"{name}={version}" for name in ("lookout", ENGINE, "lookout-base"))

    def test_it_remembers_held_packages_and_the_base(self):
        self.assertTrue(self.board_does("remember"))
        self.assertEqual(sorted(self.packages()), self.expected_packages("0.2.0+deb12"))
        with self.subTest("not again of the same: a run may have ended in the middle"):
            self.install("0.2.1+deb12")
            self.assertFalse(self.board_does("remember"))
            self.assertEqual(sorted(self.packages()), self.expected_packages("0.2.0+deb12"))
        with self.subTest("again when the token alone is another one"):
            self.token.write_text("the second token")
            self.assertTrue(self.board_does("remember"))
            self.assertEqual(sorted(self.packages()), self.expected_packages("0.2.1+deb12"))
        with self.subTest("and when the model is another one of the same name"):
            self.model.write_bytes(b"\xff\x00 the second model")
            self.assertTrue(self.board_does("remember"))
        with self.subTest("for root alone"):
            self.assertEqual(self.memory.stat().st_mode & 0o777, 0o700)
            self.assertEqual((self.memory / "files.tar").stat().st_mode & 0o777, 0o600)

    def test_model_and_token_come_back(self):
        token = self.root / "etc/lookout/fleet.token"
        settings = self.root / "etc/lookout/conf.d/70-fleet.toml"
        settings.parent.mkdir(parents=True)
        token.write_text("the token before")
        token.chmod(0o400)
        self.place.write_text("the model before")
        self.assertTrue(self.board_does("remember"))
        token.chmod(0o600)
        for file in (token, self.place, settings):
            file.write_text("new")
        self.board_does("back")
        self.assertEqual(token.read_text(), "the token before")
        self.assertEqual(token.stat().st_mode & 0o777, 0o400)
        self.assertEqual(self.place.read_text(), "the model before")
        self.assertFalse(settings.exists())


class RolloutTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = folder = pathlib.Path(temporary.name)
        folder.chmod(0o755)
        cls.make_repository(folder)
        server = quiet_server(folder / "repository")
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_address[1]}"
        keyring = run(ROOT / "deploy/archive-keyring.sh", url, "2026.1", folder, folder / "key.pgp")
        cls.sha256 = re.search("[0-9a-f]{64}", keyring)[0]
        shutil.copy(folder / "lookout-archive-keyring_2026.1_all.deb", folder / "repository/keyring.deb")
        cls.keyring = f"{url}/keyring.deb"
        (folder / "token").write_text(TOKEN + "\n")
        for model in ("good.head", "blind.head"):
            (folder / model).write_text(model)

    @classmethod
    def make_repository(cls, folder):
        home = folder / "gpg"
        home.mkdir(mode=0o700)
        environment = {**os.environ, "GNUPGHOME": str(home)}
        cls.addClassCleanup(
            subprocess.run, ["gpgconf", "--homedir", str(home), "--kill", "all"], capture_output=True, check=False
        )
        run(
            "gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", "test <test@lookout.invalid>",
            "ed25519", "sign", "never", env=environment,
        )  # fmt: skip
        keys = run("gpg", "--batch", "--with-colons", "--list-secret-keys", env=environment)
        fingerprint = re.search(r"(?m)^fpr:+([0-9A-F]+):", keys)[1]
        run("gpg", "--output", folder / "key.pgp", "--export", fingerprint, env=environment)
        run(
            ROOT / "deploy/apt-repository.sh", "--key", fingerprint, folder / "repository",
            *make_packages(folder), env=environment,
        )  # fmt: skip

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir=CACHE)
        self.addCleanup(temporary.cleanup)
        self.boards = {}
        for name in BOARDS:
            root = pathlib.Path(temporary.name) / name
            run("cp", "-a", "--reflink=auto", base_root(), root)
            self.boards[name] = Board(root)
            self.addCleanup(self.boards[name].close)
        self.start_prometheus(pathlib.Path(temporary.name))

    def start_prometheus(self, folder):
        targets = [{"targets": [board.address for board in self.boards.values()]}]
        config = fleet_test.config_of(folder, targets)
        self.prometheus = f"http://127.0.0.1:{fleet_test.free_port()}"
        process = fleet_test.start(
            "prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={self.prometheus[7:]}",
        )  # fmt: skip
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def playbook(self, *arguments, **variables):
        """Runs the playbook; returns its exit status and output."""
        hosts = {
            name: {"ansible_host": str(board.root), "lookout_instance": board.address}
            for name, board in self.boards.items()
        }
        values = {
            "ansible_connection": "community.general.chroot",
            "ansible_python_interpreter": "/usr/bin/python3",
            "ansible_become": False,
            "lookout_keyring": self.keyring,
            "lookout_keyring_sha256": self.sha256,
            "lookout_version": "0.2.0+deb12",
            "lookout_token_file": str(self.folder / "token"),
            "lookout_prometheus": self.prometheus,
            "lookout_watch_seconds": 12,
            "lookout_watch_every": 1,
            "lookout_seen_within": 30,
            **variables,
        }
        children = {
            "canary": {"hosts": {"front": hosts["front"]}},
            "others": {"hosts": {"back": hosts["back"], "gate": hosts["gate"]}},
        }
        inventory = self.folder / "boards.json"
        inventory.write_text(json.dumps({"boards": {"children": children, "vars": values}}))
        done = subprocess.run(
            ["ansible-playbook", "-i", inventory, ANSIBLE / "playbook.yml", *arguments],
            capture_output=True, text=True, env={**os.environ, "no_proxy": "127.0.0.1", "ANSIBLE_NOCOWS": "1"},
        )  # fmt: skip
        self.output = done.stdout + done.stderr
        return done.returncode

    def versions(self):
        return [self.boards[name].version().partition("+")[0] for name in BOARDS]

    def models(self):
        return [re.findall("share/lookout/([^\"]+)", self.boards[name].settings()) for name in BOARDS]

    def roll_out(self, **variables):
        self.assertEqual(self.playbook(**variables), 0, self.output)

    def refused(self, **variables):
        self.assertNotEqual(self.playbook(**variables), 0, self.output)

    def unit_settings(self, unit):
        """What the board `gate` has of a unit's settings."""
        file = self.boards["gate"].root / f"etc/systemd/system/{unit}.d/70-fleet.conf"
        return file.read_text() if file.exists() else ""

    def changes(self):
        return [int(count) for count in re.findall(r"(?m)changed=(\d+)", self.output)]

    def test_versions(self):
        settings = {"state": {"min-duration": "2s"}, "camera": {"name": 'a "name"'}}
        self.roll_out(lookout_settings_of_all=settings)
        self.assertEqual(self.versions(), ["0.2.0"] * 3)
        expected = '[camera]\nname = "a \\"name\\""\n\n[http]\ntoken-file = "/etc/lookout/fleet.token"\n\n[state]\nmin-duration = "2s"\n'
        self.assertIn(expected, self.boards["gate"].settings())
        self.assertEqual((self.boards["gate"].root / "etc/lookout/fleet.token").stat().st_mode & 0o777, 0o400)
        with self.subTest("again changes nothing"):
            self.roll_out(lookout_settings_of_all=settings)
            self.assertEqual(self.changes(), [0, 0, 0], self.output)
        with self.subTest("a version with an alert stays on no board, and comes to none but the canary"):
            self.refused(lookout_version="0.3.0+deb12", lookout_settings_of_all=settings)
            self.assertEqual(self.versions(), ["0.2.0"] * 3)
            self.assertIn("LookoutCameraAway of " + self.boards["front"].address, self.output)
            self.assertNotIn("TASK [lookout : The packages] *\nchanged: [back]", self.output)
            self.assertNotRegex(self.output, "(?m)^(ok|changed): .back")
            self.assertIn(expected, self.boards["front"].settings())
        with self.subTest("one without comes to all"):
            fleet_test.wait_for("no alert", lambda: not self.alerts())
            self.roll_out(lookout_version="0.2.1+deb12", lookout_settings_of_all=settings)
            self.assertEqual(self.versions(), ["0.2.1"] * 3)
        with self.subTest("back when somebody asks for it"):
            self.assertEqual(self.playbook("--tags", "back", lookout_version="0.2.1+deb12"), 0, self.output)
            self.assertEqual(self.versions(), ["0.2.0"] * 3)

    def alerts(self):
        test = fleet_test.FleetTest()
        test.port = int(self.prometheus.rpartition(":")[2])
        return test.ask('ALERTS{alertstate="firing"}')

    def test_models(self):
        self.roll_out(lookout_model=str(self.folder / "good.head"))
        self.assertEqual(self.models(), [["good.head"]] * 3)
        self.refused(lookout_model=str(self.folder / "blind.head"))
        self.assertEqual(self.models(), [["good.head"]] * 3)
        self.assertNotRegex(self.output, "(?m)^(ok|changed): .back")

    def model(self, name):
        return (self.boards[name].root / "usr/local/share/lookout/gate.head").read_text()

    def test_a_token_or_a_model_of_the_same_name_alone(self):
        token, model = self.folder / "changing.token", self.folder / "gate.head"
        token.write_text(TOKEN + "\n")
        model.write_text("first")
        files = {"lookout_token_file": str(token), "lookout_model": str(model)}
        self.roll_out(**files)
        self.roll_out(lookout_version="0.2.1+deb12", **files)
        with self.subTest("a model is a change"):
            model.write_text("second")
            self.roll_out(lookout_version="0.2.1+deb12", **files)
            self.assertEqual([self.model(name) for name in BOARDS], ["second"] * 3)
        with self.subTest("a token with an alert goes back, and nothing else does"):
            token.write_text("blind\n")
            self.refused(lookout_version="0.2.1+deb12", **files)
            self.assertEqual(self.versions(), ["0.2.1"] * 3)
            self.assertEqual([self.model(name) for name in BOARDS], ["second"] * 3)
            self.assertEqual((self.boards["front"].root / "etc/lookout/fleet.token").read_text(), TOKEN + "\n")

    def test_network(self):
        self.roll_out()
        self.assertEqual(self.unit_settings("lookout.socket"), "")
        network = {"lookout_port": 8090, "lookout_addresses": ["192.0.2.11", "192.0.2.64/28"]}
        with self.subTest("listens, and reaches what it is told"):
            self.roll_out(**network)
            self.assertIn("\nListenStream=\nListenStream=8090\n", self.unit_settings("lookout.socket"))
            service = self.unit_settings("lookout.service")
            self.assertIn("\nPrivateNetwork=no\n", service)
            self.assertIn("\nIPAddressAllow=192.0.2.11 192.0.2.64/28\n", service)
        with self.subTest("again changes nothing"):
            self.roll_out(**network)
            self.assertEqual(self.changes(), [0, 0, 0], self.output)
        with self.subTest("back"):
            self.assertEqual(self.playbook("--tags", "back", **network), 0, self.output)
            self.assertEqual(self.unit_settings("lookout.socket"), "")
            self.assertEqual(self.unit_settings("lookout.service"), "")
        with self.subTest("what is no longer wanted goes"):
            self.roll_out(**network)
            self.roll_out(lookout_port=8090)
            self.assertNotEqual(self.unit_settings("lookout.socket"), "")
            self.assertEqual(self.unit_settings("lookout.service"), "")

    def test_a_board_that_fails_takes_its_batch_back(self):
        self.roll_out()
        models = self.boards["gate"].root / "usr/local/share/lookout"
        models.rmdir()
        models.write_text("no folder: the packages are new when this fails")
        self.refused(lookout_version="0.2.1+deb12", lookout_batch="100%")
        self.assertEqual(self.versions(), ["0.2.1", "0.2.0", "0.2.0"])
        self.assertIn("back went back to what it had: gate failed, or cannot be reached", self.output)

    def test_a_board_that_prometheus_does_not_see_stops_the_rollout(self):
        self.roll_out()
        with self.subTest("without Prometheus nothing is touched"):
            self.refused(lookout_version="0.2.1+deb12", lookout_prometheus="http://127.0.0.1:1")
            self.assertEqual(self.versions(), ["0.2.0"] * 3)
            self.assertIn("front is as it was", self.output)
        self.boards["front"].address = "127.0.0.1:1"
        self.refused(lookout_version="0.2.1+deb12", lookout_seen_within=3)
        self.assertEqual(self.versions(), ["0.2.0"] * 3)
        self.assertIn("does not see all", self.output)


if __name__ == "__main__":
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing or os.geteuid() != 0:
        print("skipped: not root, or there is no", *missing)
        sys.exit(77)
    unittest.main(verbosity=2)
