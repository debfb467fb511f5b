#!/usr/bin/python3
"""Mutation testing: do the tests notice a fault?

Draws random mutants (a line of the source with one operator, number or statement changed, made by
universalmutator) of pipeline/ and platform/, and runs the host's tests on each. A mutant is killed
when a test fails, hangs or cannot start. Mutants that do not compile, and those whose object code is
the original's, are not counted. The tree is copied; nothing in it is changed.

  mutants.py                        200 mutants, some hours; 1 if fewer than 90 % are killed
  mutants.py --count 20 --seed 7    another, smaller sample
  mutants.py --log FILE             also append each result to a file, and skip those it has
  mutants.py --jobs 4               four at a time, each in a tree of its own
  mutants.py --trees FOLDER         keep the trees there, built, for the next run

All mutants meet the quick programs first, a mutant's own tests before the others. Those that are left
meet the slow ones. A program that does not hold the mutant does not run. A hang is a test that takes
ten times the processor's time that it takes without a mutant, or ten times as long. What only took
long is tried once more with nothing beside it. A sample depends on the seed and the sources alone.
Needs root, for namespaces of processes and mounts.
"""

import argparse
import concurrent.futures
import contextlib
import copy
import dataclasses
import difflib
import filecmp
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import pypi_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["pipeline", "platform"]
MIN_KILLED = 0.9
SLOW = ["app_tests", "overlay_tests", "torch_tests"]  # load LibTorch, or start the program
ISOLATE = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
SEE_AT_PATH = 'mount --bind "$0" "$1" && cd "$PWD" && shift && exec "$@"'
TOOL = "universalmutator==1.14.1"
# As its program `mutate` does it, without a file for each.
LIST_MUTANTS = """
import contextlib, json, sys
from universalmutator import mutator
source = sys.stdin.readlines()
rules = ["universal.rules", "cpp.rules", "c_like.rules"]
with contextlib.redirect_stdout(sys.stderr):
    found = mutator.mutants_regexp(source, rules, ignorePatterns=[], ignoreStringOnly=True)
json.dump([m[:2] for m in found if source[m[0] - 1] != m[1]], sys.stdout)
"""
NOT_COUNTED = ["does not compile", "same code"]
QUICK_SURVIVED, SURVIVED, LATE = "survived the quick tests", "survived", "timed out"


@dataclasses.dataclass
class Test:
    """A test of CTest: a program, or a part of it that runs beside the others."""

    name: str
    command: list
    environment: dict
    target: str  # the program, as Ninja knows it
    seconds: float = 0  # without a mutant
    processor_seconds: float = 0


@dataclasses.dataclass
class Mutant:
    source: str
    text: str
    difference: str
    result: str = None


def copy_sources(folder):
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        source, target = ROOT / name, folder / name
        if source.exists() and not (target.exists() and filecmp.cmp(source, target, shallow=False)):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)


class Tree:
    """A copy of the sources with a build of its own.

    Its processes see it at one path, whichever copy it is: so it is built once and copied.
    """

    def __init__(self, folder):
        self.place = self.folder = folder
        self.build = folder / "build" / "host"
        copy_sources(folder)
        self.compile()
        self.commands = {
            str(pathlib.Path(entry["file"]).relative_to(folder)): entry["command"]
            for entry in json.loads((self.build / "compile_commands.json").read_text())
        }
        self.sources = sorted(s for s in self.commands if s.split("/")[0] in FOLDERS)
        self.code = {source: self.object_code(source) for source in self.sources}
        self.tests = self.read_tests()
        self.inputs = {
            target: self.run(["ninja", "-C", self.build, "-t", "inputs", target]).splitlines()
            for target in {test.target for test in self.tests}
        }

    def copy(self, place):
        """Another tree like this; one that is there from a run before is brought up to date."""
        other = copy.copy(self)
        other.place = place
        if place.exists():
            copy_sources(place)
            other.compile()
        else:
            subprocess.run(["cp", "-a", self.folder, place], check=True)
        return other

    def compile(self):
        shared = ROOT.parent / "shared" / "models"
        options = ["-DBUILD_TESTING=ON", f"-DLOOKOUT_SHARED_MODELS={shared}"]
        if shutil.which("ld.lld"):  # the programs are linked for every mutant
            options += [f"-DCMAKE_{t}_LINKER_FLAGS=-fuse-ld=lld" for t in ("EXE", "MODULE")]
        self.run(["cmake", "--preset", "host", *options])
        self.run(["cmake", "--build", "--preset", "host"])

    def isolated(self, command):
        """A command that sees this tree at the path of all."""
        return [*ISOLATE, "sh", "-c", SEE_AT_PATH, self.place, self.folder, *command]

    def run(self, command, check=True, **environment):
        ccache = {"CCACHE_BASEDIR": str(self.folder), "CCACHE_NOHASHDIR": "true"}
        environment = {**os.environ, **ccache, **environment}
        result = subprocess.run(
            self.isolated(command), cwd=self.folder, env=environment, capture_output=True, text=True,
            errors="replace",
        )  # fmt: skip
        if check and result.returncode:
            sys.exit(f"mutants.py: {shlex.join(map(str, command))}:\n{result.stdout}{result.stderr}")
        return result.stdout if result.returncode == 0 else None

    def read_tests(self):
        tests = []
        listing = self.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"])
        for test in json.loads(listing)["tests"]:
            properties = {p["name"]: p["value"] for p in test["properties"]}
            environment = dict(v.split("=", 1) for v in properties.get("ENVIRONMENT", []))
            program = next(c for c in test["command"] if c.startswith(str(self.build)))
            target = os.path.relpath(program, self.build)
            tests.append(Test(test["name"], test["command"], environment, target))
        return tests

    def tests_of(self, is_slow):
        """The slow tests or the others."""
        return [test for test in self.tests if (pathlib.Path(test.target).name in SLOW) == is_slow]

    def object_file(self, source):
        """The path below the build's folder."""
        return shlex.split(self.commands[source].split(" -o ")[1])[0]

    def object_code(self, source):
        return (self.place / "build" / "host" / self.object_file(source)).read_bytes()

    def builds(self, targets, **environment):
        command = ["cmake", "--build", "--preset", "host", "--target", *targets]
        return self.run(command, check=False, **environment) is not None

    def own_tests(self, source, tests):
        """Of these tests those of a source file alone: all in one process, or nothing."""
        path = pathlib.Path(source)
        for name in (f"tests/{path.parent}/{path.stem}_test.cpp", f"tests/{path.parent}_test.cpp"):
            if name not in self.commands:
                continue
            program = re.search(r"(\w+)\.dir/", self.object_file(name)).group(1)
            suites = re.findall(r"^TEST(?:_[FP])?\((\w+)", (self.folder / name).read_text(), re.M)
            chosen = ":".join(f"{suite}.*:*/{suite}.*" for suite in sorted(set(suites)))
            for test in tests:
                if test.name == f"{program}.0":
                    left_out = test.environment["GTEST_FILTER"]
                    environment = {"GTEST_FILTER": chosen + left_out}
                    return [dataclasses.replace(test, environment=environment)]
        return []

    @contextlib.contextmanager
    def changed(self, mutant):
        """This tree with the mutant in it, for as long as a `with` lasts."""
        path = self.place / mutant.source
        original = path.read_text()
        path.write_text(mutant.text)
        try:
            yield
        finally:
            path.write_text(original)


def run(tree, test, limit=None, processor_limit="unlimited"):
    """Nothing if a test passes, or how it failed, and its output. Limits are in seconds."""
    # With the test all processes that it started end.
    command = tree.isolated(["prlimit", f"--cpu={processor_limit}", *test.command])
    environment = dict(os.environ, GTEST_FAIL_FAST="1", **test.environment)
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        os.chmod(folder, 0o755)  # some tests give up root's rights
        environment["TMPDIR"] = folder
        try:
            done = subprocess.run(
                command, cwd=tree.build / "tests", env=environment, timeout=limit,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            return "" if done.returncode in (0, 77) else "failed", done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return LATE, ""


def measure(tree, is_slow):
    """Runs the slow tests or the others without a mutant, to know their time."""
    for test in tree.tests_of(is_slow):
        begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        failure, output = run(tree, test)
        if failure:
            sys.exit(f"{output}\nmutants.py: {test.name} fails without a mutant")
        done = resource.getrusage(resource.RUSAGE_CHILDREN)
        test.seconds = time.monotonic() - begin
        test.processor_seconds = done.ru_utime + done.ru_stime - used.ru_utime - used.ru_stime


def first_failure(tree, tests):
    """What the first test says that fails, or nothing."""
    if not tree.builds({test.target for test in tests}):
        return "killed by the linker"
    for test in tests:
        failure, _ = run(tree, test, 20 + 10 * test.seconds, int(5 + 10 * test.processor_seconds))
        if failure:
            return failure if failure == LATE else f"killed by {test.name}"
    return None


def judge(tree, mutant, is_slow):
    """What the slow tests, or the others, say of a mutant. A hang may be a machine that is busy."""
    path = str(tree.folder / mutant.source)
    tests = [test for test in tree.tests_of(is_slow) if path in tree.inputs[test.target]]
    tests.sort(key=lambda test: test.seconds)
    with tree.changed(mutant):
        # For what is compiled once, ccache would run the preprocessor in vain.
        if not tree.builds([tree.object_file(mutant.source)], CCACHE_DISABLE="1"):
            return NOT_COUNTED[0]
        if tree.object_code(mutant.source) == tree.code[mutant.source]:
            return NOT_COUNTED[1]
        own = tree.own_tests(mutant.source, tests)
        failure = own and first_failure(tree, own) or tests and first_failure(tree, tests)
    return failure or (SURVIVED if is_slow else QUICK_SURVIVED)


def cannot_compile(difference):
    """Whether the changed line alone shows that a compiler, which takes seconds, would refuse it."""
    lines = {"-": "", "+": ""}
    for line in difference.splitlines()[3:]:
        if line[0] in lines:
            lines[line[0]] += re.sub(r'"(\\.|[^"\\])*"|/\*.*?\*/', "", line[1:])
    # Operators that C++ lacks, numbers within names, and break or continue outside of a loop.
    wrong = re.search(r"[!<>=]==|[A-Za-z_]\(\d+[+-]1\)|^ {0,2}(break|continue);", lines["+"])
    before, after = ([t.count(o) - t.count(c) for o, c in ("()", "{}", "[]")] for t in lines.values())
    return wrong or before != after


class Log:
    """Results, one a line, of this run and, if there is a file, of those before."""

    def __init__(self, path):
        self.path = path
        self.results = {}
        self.lock = threading.Lock()
        if path and pathlib.Path(path).exists():
            for line in map(json.loads, pathlib.Path(path).read_text().splitlines()):
                self.results[line["difference"]] = line["result"]

    def add(self, mutant):
        with self.lock:
            self.results[mutant.difference] = mutant.result
            if mutant.result not in NOT_COUNTED:
                print(f"{mutant.source}: {mutant.result}", flush=True)
            if self.path:
                with open(self.path, "a") as file:
                    print(json.dumps({k: vars(mutant)[k] for k in ("difference", "result")}), file=file)


def draw(tree, python, seed):
    """Random mutants without end: a file by its number of lines, then one of its mutants."""
    chance = random.Random(seed)
    originals = {s: (tree.folder / s).read_text().splitlines(keepends=True) for s in tree.sources}
    weights = [len(originals[source]) for source in tree.sources]
    left = {}  # the mutants of a source that are not drawn: the line's number and its text
    while True:
        source = chance.choices(tree.sources, weights)[0]
        original = originals[source]
        if source not in left:
            listing = subprocess.run(
                [python, "-c", LIST_MUTANTS], input="".join(original), check=True,
                capture_output=True, text=True,
            )  # fmt: skip
            left[source] = json.loads(listing.stdout)
        if not left[source]:
            continue
        number, line = left[source].pop(chance.randrange(len(left[source])))
        text = "".join([*original[: number - 1], line, *original[number:]])
        lines = difflib.unified_diff(
            "".join(original).splitlines(), text.splitlines(), source, source, lineterm="", n=1
        )
        yield Mutant(source, text, "\n".join(lines))


def share(trees, mutants, is_slow, log):
    """Judges mutants, one at a time in each tree, and those that timed out once more, alone."""
    lock = threading.Lock()
    late = []

    def work(tree):
        while True:
            with lock:
                mutant = next(mutants, None)
            if not mutant:
                return
            mutant.result = judge(tree, mutant, is_slow)
            if mutant.result == LATE:
                late.append(mutant)
            else:
                log.add(mutant)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        list(pool.map(work, trees))
    for mutant in late:
        result = judge(trees[0], mutant, is_slow)
        mutant.result = "killed by hanging" if result == LATE else result
        log.add(mutant)


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="mutants; default 200")
    parser.add_argument("--seed", type=int, default=1, help="of the sample; default 1")
    parser.add_argument("--log", metavar="FILE", help="append results, skip known ones")
    parser.add_argument("--trees", metavar="FOLDER", help="keep the trees there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants at a time")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    log = Log(arguments.log)
    python = pypi_program.install(TOOL, "python3")
    drawn = []  # in their order

    def counted():
        return [m for m in drawn if m.result and m.result not in NOT_COUNTED]

    def unknown(mutants):
        while len(counted()) < arguments.count:
            drawn.append(next(mutants))
            drawn[-1].result = log.results.get(drawn[-1].difference)
            if cannot_compile(drawn[-1].difference):
                drawn[-1].result = NOT_COUNTED[0]
            elif not drawn[-1].result:
                yield drawn[-1]

    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        folder = pathlib.Path(arguments.trees or scratch).resolve()
        first = Tree(folder / "tree0")
        trees = [first, *(first.copy(folder / f"tree{n}") for n in range(1, arguments.jobs))]
        measure(first, is_slow=False)
        mutants = draw(first, python, arguments.seed)
        share(trees, unknown(mutants), False, log)
        sample = counted()[: arguments.count]
        left = [mutant for mutant in sample if mutant.result == QUICK_SURVIVED]
        print(f"{len(left)} of {len(sample)} mutants are left for the slow tests", flush=True)
        if left:
            measure(first, is_slow=True)
            share(trees, iter(left), True, log)
    survivors = [mutant for mutant in sample if mutant.result == SURVIVED]
    print(*(f"SURVIVED:\n{mutant.difference}" for mutant in survivors), sep="\n")
    killed = len(sample) - len(survivors)
    print(f"{killed} of {len(sample)} mutants killed, {len(survivors)} survived")
    return int(killed < MIN_KILLED * len(sample))


if __name__ == "__main__":
    sys.exit(main())
