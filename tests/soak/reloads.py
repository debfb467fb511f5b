#!/usr/bin/python3
"""A run that takes a new configuration again and again, while it classifies.

    reloads.py PROGRAM [--reloads N] [--workers N]

In turn: the model file is replaced by another model's, a watch comes or goes, a file is broken, a model is
missing. The run must tell the outcome of each, keep its states, give each result the labels of the model that
it names, and need no more memory in the last fifth than in the second one. Prints the figures, and how old frames
became while it loaded, and otherwise; exit status 1 when something of this does not hold. 1,000 reloads take minutes.
"""

import argparse
import collections
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

SELFTEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models/selftest.pt")
SOURCE = "test://checkers?size=320x240&fps=30"
GROWTH_KB = 4096  # of resident memory that is no leak yet
SILENCE = 60  # s without an outcome that are a hang
CALM = 20  # s before the first reload, in which nothing is loaded
WATCHES = '[watch.gate]\nroi = [0, 0, 0.5, 1]\nmodel = "{model}"\n'
OUTCOMES = {  # of each turn: a part of its line in the log
    "replaced": "reload: the model ",
    "more": "reload: watch.lamp.roi",
    "broken": "reload: nothing was changed: ",
    "missing": "reload: nothing was changed: ",
    "less": "reload: watch.lamp.roi",
}


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def write_other_model(path):
    """The same network, with another name and with labels in capitals."""
    with zipfile.ZipFile(SELFTEST) as archive, zipfile.ZipFile(path, "w") as other:
        for entry in archive.infolist():
            data = archive.read(entry)
            if entry.filename.endswith("/extra/labels.txt"):
                data = data.upper()
            if entry.filename.endswith("/extra/metadata.json"):
                data = data.replace(b'"selftest"', b'"capitals"')
            other.writestr(entry.filename, data)


def write(path, text):
    """As an editor does."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


class Results(threading.Thread):
    """Reads and counts the run's JSON lines."""

    def __init__(self, stream):
        super().__init__(daemon=True)
        self.stream = stream
        self.kinds = collections.Counter()
        self.states = collections.Counter()
        self.summary = {}
        self.mixed = 0  # results with labels of another model than theirs
        self.models = collections.Counter()
        self.loads = False
        self.ages = {False: [], True: []}  # ms; True: while the run loads

    def look_at(self, result):
        self.models[result["model"]] += 1
        self.ages[self.loads].append(result["frame_age_ms"])
        labels = "".join(each["label"] for each in result["results"])
        if labels.isupper() != (result["model"] == "capitals"):
            self.mixed += 1

    def run(self):
        for line in self.stream:
            result = json.loads(line)
            self.kinds[result["type"]] += 1
            if result["type"] == "classification":
                self.look_at(result)
            if result["type"] == "state":
                self.states[result["watch"]] += 1
            if result["type"] == "summary":
                self.summary = result


class Run:
    def __init__(self, program, folder, workers):
        self.model = os.path.join(folder, "model.pt")
        self.next_model = os.path.join(folder, "other.pt")
        write_other_model(self.next_model)
        self.config = os.path.join(folder, "lookout.toml")
        shutil.copy(SELFTEST, self.model)
        self.configure("less")
        command = [program, SOURCE, "--config", self.config, "--format", "json", "--threads", "1"]
        command += ["--set", f"model.workers={workers}", "--set", "still.enabled=no"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.results = Results(self.process.stdout)
        self.results.start()
        while not self.results.kinds["classification"]:
            if self.process.poll() is not None:
                sys.exit(self.process.stderr.read())
            time.sleep(0.05)

    def configure(self, turn):
        watches = WATCHES.format(model=self.model)
        if turn in ("more", "broken", "missing"):
            watches += "[watch.lamp]\nroi = [0.5, 0, 0.5, 1]\n"
        if turn == "broken":
            watches += "rio = 3\n"
        if turn == "missing":
            watches += '[watch.box]\nmodel = "/nowhere/box.pt"\n'
        write(self.config, watches)
        if turn == "replaced":
            os.rename(self.model, self.model + ".old")
            os.rename(self.next_model, self.model)
            os.rename(self.model + ".old", self.next_model)

    def reload(self, turn):
        """Returns the seconds until the outcome."""
        self.configure(turn)
        start = time.monotonic()
        self.results.loads = True
        os.kill(self.process.pid, signal.SIGUSR2)
        for line in self.process.stderr:
            if "reload: " not in line:
                continue
            if OUTCOMES[turn] not in line:
                sys.exit(f"{turn}: {line}")
            self.results.loads = False
            return time.monotonic() - start
        sys.exit(f"{turn}: the run has ended with status {self.process.wait()}")

    def end(self):
        self.process.terminate()
        self.process.stderr.read()
        status = self.process.wait()
        self.results.join()
        return status


def percentile(values, share):
    return sorted(values)[int(len(values) * share)] if values else 0


def check(reloads, run, memory, status):
    """Returns what does not hold."""
    wrong = []
    part = max(1, len(memory) // 5)
    settled, last = statistics.median(memory[part : 2 * part] or memory), statistics.median(memory[-part:])
    growth = last - settled
    print(f"memory: {memory[0]} kB at first, {settled:.0f} in the second fifth, {last:.0f} in the last one")
    if growth > GROWTH_KB:
        wrong.append(f"memory grows by {growth} kB")
    results = run.results
    summary = results.summary
    for loads, ages in results.ages.items():
        p50, p95 = percentile(ages, 0.5), percentile(ages, 0.95)
        when = "while it loads" if loads else "otherwise"
        print(f"age {when}: p50 {p50:.1f}, p95 {p95:.1f} ms, {len(ages)} results")
    print(f"results of each model: {dict(results.models)}")
    print(f"frames: {summary.get('captured')}, dropped {summary.get('dropped')}")
    if status != 0 or not summary:
        wrong.append(f"the run ended with status {status}")
    if summary.get("dropped", 0) > reloads:
        wrong.append("more than one frame a reload was dropped")
    if results.mixed or len(results.models) != 2:
        wrong.append(f"{results.mixed} results have labels of another model than theirs")
    expected = 1 + (reloads + len(OUTCOMES) - 1) // len(OUTCOMES)  # one more with each model
    if results.states["gate"] != expected:
        wrong.append(f"the gate, which is always there, has {results.states['gate']} states in place of {expected}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--reloads", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    turns = list(OUTCOMES)
    times = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        run = Run(options.program, folder, options.workers)
        memory = []
        time.sleep(CALM)
        for number in range(options.reloads):
            signal.alarm(SILENCE)
            turn = turns[number % len(turns)]
            times[turn].append(run.reload(turn))
            if (number + 1) % len(turns) == 0:
                memory.append(resident_kb(run.process.pid))
        signal.alarm(0)
        status = run.end()
    print(f"{options.reloads} reloads in {sum(map(sum, times.values())):.0f} s; median, longest ms:")
    for turn, taken in times.items():
        taken.sort()
        print(f"  {turn:<9} {taken[len(taken) // 2] * 1e3:6.0f} {taken[-1] * 1e3:6.0f}")
    wrong = check(options.reloads, run, memory, status)
    for sentence in wrong:
        print(f"FAILED: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
