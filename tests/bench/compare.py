#!/usr/bin/python3
"""Whole runs of lookout and its peers, side by side: ratios with their spread.

Rounds are interleaved (A B C A B C ..., each beginning with another one), and a ratio is taken of
two runs of one round, so that what else the machine does, or did to its clock, touches both. Prints
for each figure the least, the median and the largest of the rounds, its bar, and the machine with
what others did on it. Figures of a shared or virtual machine are that machine's.

  compare.py                                  everything, about half an hour
  compare.py --rows rates --rounds 3          the rates alone
  compare.py --tflite M.tflite --json FILE

Needs what `deploy/install-deps.sh --bench` installs, a build of `cmake --preset host`, and the
archives of one network with qint8 and with quint8 activations.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LITERT = "ai-edge-litert==2.1.4"
UNPACED = "test://colorsquares?size=640x480&fps=0"
PACED = "test://colorsquares?size=640x480&fps=30"
ROWS = ("rates", "jitter", "priority", "reporting", "memory")


class Failure(Exception):
    pass


# ---- The machine, and what others do on it


def processor():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


class Others:
    """How much of the processors' time others take while this lives, steal included."""

    def __init__(self):
        self.start = time.monotonic()
        self.busy = self.busy_seconds() - self.own_seconds()

    @staticmethod
    def busy_seconds():
        with open("/proc/stat", encoding="utf-8") as stat:
            user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
        ticks = user + nice + system + irq + softirq + steal
        return ticks / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def own_seconds():
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    def share(self):
        available = (time.monotonic() - self.start) * os.cpu_count()
        others = self.busy_seconds() - self.own_seconds() - self.busy
        return max(0.0, others / available)


@contextlib.contextmanager
def busy_processes(count):
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def run(command):
    """Runs it to its end: (stdout, CPU seconds of the process)."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            lines = err.read().decode(errors="replace").splitlines() or ["no message"]
            raise Failure(f"{' '.join(command)}: status {process.returncode}: {lines[-1]}")
        return out.read().decode(), usage.ru_utime + usage.ru_stime


class Runner:
    """Runs commands; again, when others took more of the processors' time than `limit` (0..1)."""

    def __init__(self, limit, tries):
        self.limit = limit
        self.tries = tries
        self.again = 0  # runs that were thrown away
        self.disturbed = 0  # runs that count although others took more
        self.shares = []  # what others took, of those that count

    def run(self, command):
        """(stdout, CPU seconds of the process)"""
        for last in [False] * (self.tries - 1) + [True]:
            others = Others()
            result = run(command)
            share = others.share()
            if share <= self.limit or last:
                self.shares.append(share)
                self.disturbed += share > self.limit
                return result
            self.again += 1
        return None


# ---- What runs print


def read_peer(stdout):
    return json.loads(stdout)


def read_lookout(stdout):
    """The summary; and the share of the frames' time that is not the model's."""
    lines = [json.loads(line) for line in stdout.splitlines()]
    frames = [line["timing_ms"] for line in lines if line["type"] == "classification"]
    summary = lines[-1]
    if frames:
        total = sum(frame["total"] for frame in frames)
        summary["rest"] = 1 - sum(frame["inference"] for frame in frames) / total
    return summary


# ---- Figures


class Report:
    def __init__(self):
        self.rows = []
        self.variants = {}

    def add(self, name, values, bar="", digits=2, unit=""):
        """`bar`: as in ">= 0.95" or "<= 4"; the median is held against it."""
        low, median, high = min(values), statistics.median(values), max(values)
        holds = None
        if bar:
            relation, limit = bar.split()
            holds = median >= float(limit) if relation == ">=" else median <= float(limit)
        row = {"figure": name, "unit": unit, "min": low, "median": median, "max": high}
        row.update(bar=bar, holds=holds, values=values)
        self.rows.append(row)
        texts = [f"{value:.{digits}f}" for value in (low, median, high)]
        verdict = {None: "", True: "holds", False: "misses"}[holds]
        print(
            f"{name:<62} {texts[0]:>8} {texts[1]:>8} {texts[2]:>8} {unit:<4} {bar:<8} {verdict}",
            flush=True,
        )

    def missing(self, name, why):
        self.rows.append({"figure": name, "missing": why})
        print(f"{name:<62} {why}", flush=True)

    def note_command(self, name, command):
        self.variants[name] = {"command": command}


# ---- Rates of unpaced runs


def litert_python():
    """The Python of an environment with LiteRT, in the cache; it has Debian's packages, too."""
    cache = os.environ.get("LOOKOUT_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "lookout"
    )
    folder = pathlib.Path(cache) / "litert"
    python = folder / "bin" / "python3"
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != LITERT:
        run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", str(folder)])
        run([str(python), "-m", "pip", "install", "--quiet", LITERT])
        stamp.write_text(LITERT, encoding="utf-8")
    return str(python)


def rate_variants(options):
    """{name: (command, reader)}"""
    seconds = f"{options.seconds:g}s"
    bare = [f"{options.build}/tests/bare_forward"]
    help_text, _ = run([options.lookout, "run", "--help"])

    def lookout(archive, *more):
        command = [options.lookout, "run", UNPACED, "--model", archive, "--format", "json"]
        return command + ["--log-level", "off", "--timeout", seconds, *more], read_lookout

    def peer(script, archive, size, python="/usr/bin/python3"):
        command = [python, str(HERE / script), archive, "--size", size]
        return command + ["--seconds", f"{options.seconds:g}"], read_peer

    variants = {}
    for kind, archive in (("qint8", options.qint8), ("quint8", options.quint8)):
        variants[f"bare forward {kind}"] = bare + [archive, seconds], read_peer
        variants[f"lookout {kind}"] = lookout(archive, "--threads", "1")
        variants[f"lookout {kind}, 2 threads"] = lookout(archive, "--threads", "2")
        variants[f"lookout {kind}, auto"] = lookout(archive, "--threads", "auto")
        if "--workers" in help_text:
            variants[f"lookout {kind}, 2 workers"] = lookout(
                archive, "--threads", "1", "--workers", "2"
            )
        for size in ("224x224", "640x480"):
            variants[f"Python {kind} {size}"] = peer("peer_torch.py", archive, size)
    if options.tflite:
        variants["LiteRT 640x480"] = peer(
            "peer_tflite.py", options.tflite, "640x480", litert_python()
        )
    return variants


def measure_in_turn(variants, rounds, runner):
    """[{name: what its reader gave}], one a round."""
    names = list(variants)
    results = []
    for number in range(rounds):
        start = number % len(names)
        results.append({})
        for name in names[start:] + names[:start]:
            command, read = variants[name]
            results[-1][name] = read(runner.run(command)[0])
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return results


def rates(options, report):
    variants = rate_variants(options)
    for name, (command, _) in variants.items():
        report.note_command(name, command)
    results = measure_in_turn(variants, options.rounds, options.runner)

    def ratio(name, over, under, bar=""):
        if over in variants and under in variants:
            values = [result[over]["fps"] / result[under]["fps"] for result in results]
            report.add(name, values, bar)
        else:
            gone = over if over not in variants else under
            report.missing(name, f"not measured: {gone} is not there")

    for name in variants:
        report.add(f"{name}", [result[name]["fps"] for result in results], "", 1, "fps")
    for kind in ("qint8", "quint8"):
        ratio(f"end to end / bare forward, {kind}", f"lookout {kind}", f"bare forward {kind}",
              ">= 0.95")  # fmt: skip
    ratio("lookout qint8 / Python quint8, 224x224", "lookout qint8", "Python quint8 224x224",
          ">= 3.8")  # fmt: skip
    ratio("lookout qint8 / Python quint8, 640x480", "lookout qint8", "Python quint8 640x480",
          ">= 3.8")  # fmt: skip
    ratio("lookout qint8 / Python qint8, 640x480", "lookout qint8", "Python qint8 640x480")
    ratio("lookout qint8 / LiteRT, 640x480", "lookout qint8", "LiteRT 640x480")
    for kind, most in (("quint8", 4), ("qint8", 12)):
        values = [100 * result[f"lookout {kind}"]["rest"] for result in results]
        report.add(f"everything but the model, {kind}, of a frame", values, f"<= {most}", 1, "%")
    for kind in ("qint8", "quint8"):
        one = f"lookout {kind}"
        ratio(f"2 workers / 1, {kind}", f"{one}, 2 workers", one, ">= 1.85")
        ratio(f"2 threads / 1, {kind}", f"{one}, 2 threads", one, ">= 1.6")
        ratio(f"--threads auto / 1, {kind}", f"{one}, auto", one, ">= 0.95")


# ---- Paced runs


def jitter(options, report):
    command = [options.lookout, "run", PACED, "--model", options.qint8, "--threads", "2"]
    command += ["--timeout", f"{options.paced_seconds:g}s", "--format", "json"]
    command += ["--log-level", "off"]
    report.note_command("paced", command)
    quiet, busy = [], []
    for _ in range(options.paced_rounds):
        quiet.append(read_lookout(options.runner.run(command)[0]))
        with busy_processes(1):
            busy.append(read_lookout(run(command)[0]))
    for name, runs, bar in (("", quiet, "<= 1.3"), (", a processor busy", busy, "<= 3")):
        for stage in ("total", "inference"):
            times = [one["latency_ms"][stage] for one in runs]
            report.add(
                f"p99 / p50 of {stage}, 30 fps, 2 threads, qint8{name}",
                [time["p99"] / time["p50"] for time in times],
                bar if stage == "total" else "",
            )
        # A frame is missing at the start: the first second's.
        report.add(f"rate, 30 fps, 2 threads, qint8{name}", [one["fps"] for one in runs], ">= 29.9",
                   1, "fps")  # fmt: skip
        report.add(f"frames replaced, 2 threads, qint8{name}", [one["dropped"] for one in runs],
                   "" if name else "<= 0", 0)  # fmt: skip


def lateness(trace, fps):
    """Of every captured frame, in ms, after it was due; and how many were never captured."""
    events = json.loads(pathlib.Path(trace).read_text(encoding="utf-8"))["traceEvents"]
    starts = sorted(e["ts"] / 1000 for e in events if e["ph"] == "X" and e["name"] == "capture")
    # The source keeps to its grid, on which most frames are taken: a frame that is late by a period
    # is the next one.
    period = 1000 / fps
    usual = collections.Counter(round(start % period, 1) for start in starts).most_common(1)[0][0]
    # From there; what is just before it is not a period late.
    late = [(start - usual + 0.5) % period - 0.5 for start in starts]
    due = min(late)
    late = [time - due for time in late]
    periods = round((starts[-1] - late[-1] - starts[0] + late[0]) / period)
    return sorted(late), periods + 1 - len(starts)


def priority(options, report):
    """The capture thread, ordinary and of real time, when every processor has two other tasks."""
    if os.geteuid() != 0 and resource.getrlimit(resource.RLIMIT_RTPRIO)[0] == 0:
        report.missing("capture priority", "not measured: this user may not use real-time priority")
        return
    frames = int(options.paced_seconds * 30)
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        command = [options.lookout, "run", PACED, "--model", options.qint8, "--threads", "1"]
        command += ["--timeout", f"{options.paced_seconds:g}s", "--format", "json"]
        command += ["--log-level", "off", "--trace", trace, "--trace-frames", f"{frames}"]
        for value in ("0", "50"):
            late, missed, ages = [], [], []
            report.note_command(f"priority {value}", command + ["--capture-priority", value])
            for _ in range(options.paced_rounds):
                with busy_processes(2 * os.cpu_count()):
                    summary = read_lookout(run(command + ["--capture-priority", value])[0])
                times, gone = lateness(trace, 30)
                late.append((times[len(times) // 2], times[len(times) * 99 // 100], times[-1]))
                missed.append(gone)
                ages.append(summary["latency_ms"]["frame_age"]["p99"])
            name = f", --capture-priority {value}, processors busy twice"
            for i, rank in enumerate(("p50", "p99", "max")):
                report.add(f"capture late, {rank}{name}", [one[i] for one in late], "", 2, "ms")
            report.add(f"frames never captured{name}", missed, "", 0)
            report.add(f"p99 of frame age{name}", ages, "", 1, "ms")


def reporting(options, report):
    """The same run with every result and statistics, and with none."""
    model = str(ROOT / "models" / "selftest.pt")
    run_it = [options.lookout, "run", PACED, "--model", model, "--threads", "1"]
    run_it += ["--timeout", f"{options.paced_seconds:g}s", "--format", "json"]
    told = run_it + ["--results", "all", "--stats-interval", "1s", "--log-level", "info"]
    silent = run_it + ["--results", "changes", "--stats-interval", "1h", "--log-level", "off"]
    report.note_command("reporting", told)
    report.note_command("not reporting", silent)
    values = []
    for _ in range(options.paced_rounds):
        difference = options.runner.run(told)[1] - options.runner.run(silent)[1]
        values.append(100 * difference / options.paced_seconds)
    report.add("JSON lines and statistics, 30 fps, of a core", values, "<= 1", 2, "%")


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return None


def memory(options, report):
    source = f"{UNPACED}&frames={options.memory_frames}"
    command = [options.lookout, "run", source, "--model", options.qint8, "--threads", "1"]
    command += ["--format", "json", "--log-level", "off"]
    report.note_command("memory", command)
    samples = []
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out)
        while process.poll() is None:
            size = resident_kb(process.pid)  # none of one that has ended
            if size and os.fstat(out.fileno()).st_size > 0:
                samples.append(size)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
    if process.returncode != 0:
        raise Failure(f"{' '.join(command)}: status {process.returncode}")
    if len(samples) < 10:
        raise Failure(f"{options.memory_frames} frames are too few for a look at the memory")
    settled = samples[len(samples) // 10 :]
    report.add(f"resident memory, {options.memory_frames} frames", settled, "", 0, "kB")
    report.add("its growth after the first tenth", [settled[-1] - settled[0]], "<= 1024", 0, "kB")


def main():
    shared = ROOT.parent / "shared" / "models"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=ROOT / "build" / "host", help="default build/host")
    parser.add_argument("--qint8", default=str(shared / "mobilenet_v2_xnnpack.pt"), metavar="FILE")
    parser.add_argument("--quint8", default=str(shared / "mobilenet_v2_qnnpack.pt"), metavar="FILE")
    parser.add_argument("--tflite", metavar="FILE", help="of the same network; else no LiteRT")
    parser.add_argument("--rows", default=",".join(ROWS), help=f"of {','.join(ROWS)}; default all")
    parser.add_argument("--rounds", type=int, default=7, help="of the rates; default 7")
    parser.add_argument("--seconds", type=float, default=3, help="a run of the rates; default 3")
    parser.add_argument("--paced-rounds", type=int, default=3, help="default 3")
    parser.add_argument("--paced-seconds", type=float, default=60, help="a run; default 60")
    parser.add_argument("--memory-frames", type=int, default=100_000, help="default 100000")
    parser.add_argument(
        "--most-others", type=float, default=100, metavar="PERCENT",
        help="repeat a run in which others took more of the processors' time",
    )  # fmt: skip
    parser.add_argument("--tries", type=int, default=20, help="of such a run, at most; default 20")
    parser.add_argument("--json", metavar="FILE", help="write everything that was measured")
    options = parser.parse_args()
    options.lookout = f"{options.build}/app/lookout"
    options.runner = Runner(options.most_others / 100, options.tries)
    chosen = options.rows.split(",")
    for name in chosen:
        if name not in ROWS:
            parser.error(f"there is no row {name}, only {', '.join(ROWS)}")
    for file in (options.lookout, options.qint8, options.quint8, options.tflite):
        if file and not os.path.exists(file):
            raise Failure(f"{file} is not there; see --help")

    machine = {
        "processor": processor(),
        "processors": os.cpu_count(),
        "system": platform.release(),
        "lookout": run([options.lookout, "--version"])[0].strip().splitlines(),
        "load_before": os.getloadavg(),
    }
    print(f"{machine['processor']}, {machine['processors']} processors, Linux {machine['system']}")
    print(f"{'; '.join(machine['lookout'])}; load {machine['load_before'][0]:.2f}")
    print(f"{'':<62} {'min':>8} {'median':>8} {'max':>8}")
    report = Report()
    for name in chosen:
        measure = {
            "rates": rates,
            "jitter": jitter,
            "priority": priority,
            "reporting": reporting,
            "memory": memory,
        }
        measure[name](options, report)
    machine["load_after"] = os.getloadavg()
    runner = options.runner
    if runner.shares:
        machine["others"] = {
            "median": statistics.median(runner.shares),
            "max": max(runner.shares),
            "runs": len(runner.shares),
            "runs_thrown_away": runner.again,
            "runs_above_limit": runner.disturbed,
        }
        print(
            f"of the processors' time others took {100 * machine['others']['median']:.0f} % in the "
            f"median of {len(runner.shares)} runs and {100 * max(runner.shares):.0f} % at most; "
            f"{runner.again} other runs were thrown away"
        )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(
                {"machine": machine, "rows": report.rows, "commands": report.variants},
                file,
                indent=1,
            )


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"compare.py: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
