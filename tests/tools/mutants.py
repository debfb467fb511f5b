#!/usr/bin/python3
"""Mutation testing: do the tests notice a fault?

Draws random mutants (a line of the source with one operator, number or statement changed, made by
universalmutator) of pipeline/ and platform/, and runs the host's tests on each. A mutant is killed
when a test fails, hangs or cannot start. Mutants that do not compile, and those whose object code is
the original's, are not counted. The tree is copied; nothing in it is changed.

  mutants.py                        200 mutants, some hours; 1 if fewer than 90 % are killed
  mutants.py --count 20 --seed 7    another, smaller sample
  mutants.py --log FILE             also append each result to a file, and skip those it has

A sample depends on the seed and the sources alone. Needs root, for process namespaces.
"""

import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import pypi_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["pipeline", "platform"]
MIN_KILLED = 0.9
QUICK = ["pipeline_tests", "platform_tests"]  # built and run before the slow programs
# With the test all processes that it started end.
ISOLATE = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
TOOL = "universalmutator==1.14.1"


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.build = folder / "build" / "host"
        names = subprocess.run(
            ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True, capture_output=True, text=True,
        ).stdout.split("\0")  # fmt: skip
        for name in filter(None, names):
            if (ROOT / name).exists():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
        shared = ROOT.parent / "shared" / "models"
        self.run(["cmake", "--preset", "host", "-DBUILD_TESTING=ON", f"-DLOOKOUT_SHARED_MODELS={shared}"])
        self.run(["cmake", "--build", "--preset", "host"])
        commands = json.loads((self.build / "compile_commands.json").read_text())
        self.commands = {
            str(pathlib.Path(entry["file"]).relative_to(folder)): entry for entry in commands
        }

    def own_tests(self, source):
        """The test program of a source file's own tests, and their suites: ("", []) if it has none."""
        path = pathlib.Path(source)
        for name in (f"tests/{path.parent}/{path.stem}_test.cpp", f"tests/{path.parent}_test.cpp"):
            if name in self.commands:
                output = self.commands[name]["command"].split(" -o ")[1]
                program = re.search(r"(\w+)\.dir/", output).group(1)
                text = (self.folder / name).read_text()
                return program, sorted(set(re.findall(r"^TEST(?:_[FP])?\((\w+)", text, re.M)))
        return "", []

    def run(self, command):
        environment = dict(os.environ, CCACHE_BASEDIR=str(self.folder), CCACHE_NOHASHDIR="true")
        result = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True
        )
        if result.returncode:
            sys.exit(f"mutants.py: {shlex.join(map(str, command))}:\n{result.stdout}{result.stderr}")

    def builds(self, targets):
        command = ["cmake", "--build", "--preset", "host", "--target", *targets]
        return subprocess.run(command, cwd=self.folder, capture_output=True).returncode == 0

    def object_code(self, source):
        """The code that a source file compiles to, or nothing if it does not compile."""
        entry = self.commands[source]
        command = shlex.split(entry["command"])
        with tempfile.NamedTemporaryFile(suffix=".o") as out:
            command[command.index("-o") + 1] = out.name
            done = subprocess.run(command, cwd=entry["directory"], capture_output=True)
            return pathlib.Path(out.name).read_bytes() if done.returncode == 0 else None


def read_tests(build):
    """The commands of CTest with their environment."""
    listing = subprocess.run(
        ["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True
    )
    tests = []
    for test in json.loads(listing.stdout)["tests"]:
        properties = {p["name"]: p["value"] for p in test["properties"]}
        environment = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
        tests.append((test["name"], test["command"], environment))
    return tests


def program_of(test):
    """The name of a CTest test's program: pipeline_tests.0 is a shard of pipeline_tests."""
    return test[1].split(".")[0]


class Tests:
    """The host's tests, the quick ones first."""

    def __init__(self, build):
        self.build = build
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            self.tests = sorted(pool.map(self.measure, read_tests(build)))

    def measure(self, test):
        """A test with the seconds that it takes."""
        name, command, environment = test
        begin = time.monotonic()
        passed, output = self.run(command, environment, 1800)
        if not passed:
            sys.exit(f"{output}\nmutants.py: {name} fails without a mutant")
        return time.monotonic() - begin, *test

    def run(self, command, environment, limit):
        """Whether a test passes, and its output."""
        environment = dict(os.environ, GTEST_FAIL_FAST="1", **environment)
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            os.chmod(folder, 0o755)  # some tests give up root's rights
            environment["TMPDIR"] = folder
            try:
                done = subprocess.run(
                    [*ISOLATE, *command], cwd=self.build / "tests", env=environment, timeout=limit,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                )  # fmt: skip
                return done.returncode in (0, 77), done.stdout.decode(errors="replace")
            except subprocess.TimeoutExpired:
                return False, "timed out"

    def killer(self, programs, suites=()):
        """The name of a test of these programs that fails, or nothing. Two run side by side.

        With suites, only their tests run.
        """

        def run(test):
            seconds, name, command, environment = test
            if failed:
                return
            if suites:
                left_out = environment["GTEST_FILTER"]
                chosen = ":".join(f"{suite}.*:*/{suite}.*" for suite in suites)
                environment = dict(environment, GTEST_FILTER=chosen + left_out)
            if not self.run(command, environment, 60 + 10 * seconds)[0]:
                failed.append(name)

        failed = []
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run, [t for t in self.tests if program_of(t) in programs]))
        return failed[0] if failed else None


class Mutants:
    """Random mutants: a file by its number of lines, then one of its mutants."""

    def __init__(self, tree, mutate, seed, folder):
        self.tree, self.mutate, self.folder = tree, mutate, folder
        self.random = random.Random(seed)
        self.sources = sorted(s for s in tree.commands if s.split("/")[0] in FOLDERS)
        self.weights = [len((tree.folder / s).read_text().splitlines()) for s in self.sources]
        self.drawn = {}  # the mutants of a source that are left
        self.original_code = {}

    def all_of(self, source):
        if source not in self.drawn:
            folder = self.folder / source.replace("/", "_")
            folder.mkdir()
            subprocess.run(
                [self.mutate, self.tree.folder / source, "cpp", "--noCheck", "--mutantDir", folder],
                check=True, stdout=subprocess.DEVNULL,
            )  # fmt: skip
            by_number = sorted(folder.iterdir(), key=lambda f: int(re.findall(r"\d+", f.name)[-1]))
            self.drawn[source] = by_number
            self.original_code[source] = self.tree.object_code(source)
        return self.drawn[source]

    def draw(self):
        """A source file and the text of a mutant that compiles to other code."""
        while True:
            source = self.random.choices(self.sources, self.weights)[0]
            left = self.all_of(source)
            if not left:
                continue
            text = left.pop(self.random.randrange(len(left))).read_text()
            path = self.tree.folder / source
            original = path.read_text()
            path.write_text(text)
            code = self.tree.object_code(source)
            path.write_text(original)
            if code and code != self.original_code[source]:
                return source, text


def difference(source, original, mutant):
    lines = difflib.unified_diff(
        original.splitlines(), mutant.splitlines(), source, source, lineterm="", n=1
    )
    return "\n".join(lines)


def judge(tree, tests, source, text):
    """The name of the test that killed a mutant, or nothing."""
    path = tree.folder / source
    original = path.read_text()
    path.write_text(text)
    try:
        everything = {program_of(test) for test in tests.tests}
        own, suites = tree.own_tests(source)
        steps = [(QUICK, QUICK, ()), (everything.difference(QUICK), ["all"], ())]
        if suites:
            steps.insert(0, ([own], [own], suites))
        for programs, targets, chosen in steps:
            if not tree.builds(targets):
                return "build"
            killer = tests.killer(programs, chosen)
            if killer:
                return killer
        return None
    finally:
        path.write_text(original)


def known_results(log):
    if not log or not pathlib.Path(log).exists():
        return {}
    results = map(json.loads, pathlib.Path(log).read_text().splitlines())
    return {result["difference"]: result["killer"] for result in results}


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="mutants; default 200")
    parser.add_argument("--seed", type=int, default=1, help="of the sample; default 1")
    parser.add_argument("--log", metavar="FILE", help="append results, skip known ones")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    known = known_results(arguments.log)
    mutate = pypi_program.install(TOOL, "mutate")
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "mutants").mkdir()
        tree = Tree(scratch / "lookout")
        tests = Tests(tree.build)
        mutants = Mutants(tree, mutate, arguments.seed, scratch / "mutants")
        for number in range(1, arguments.count + 1):
            source, text = mutants.draw()
            diff = difference(source, (tree.folder / source).read_text(), text)
            if diff in known:
                killer = known[diff]
            else:
                killer = judge(tree, tests, source, text)
                if arguments.log:
                    with open(arguments.log, "a") as log:
                        log.write(json.dumps({"difference": diff, "killer": killer}) + "\n")
            print(f"{number}: {source}: {'killed by ' + killer if killer else 'SURVIVED'}", flush=True)
            if not killer:
                survivors.append(diff)
                print(diff, flush=True)
    killed = arguments.count - len(survivors)
    print(f"{killed} of {arguments.count} mutants killed, {len(survivors)} survived")
    return 0 if killed >= MIN_KILLED * arguments.count else 1


if __name__ == "__main__":
    sys.exit(main())
