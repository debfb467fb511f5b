"""Figures of lookout at 30 frames a second: jitter, a real-time capture thread, and what reports cost;
and its memory over many frames."""

import collections
import contextlib
import json
import os
import pathlib
import resource
import subprocess
import tempfile

from rates import UNPACED
from running import Failure, busy_processes, read_lookout, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACED = "test://colorsquares?size=640x480&fps=30"


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
        command += ["--log-level", "off", "--trace", trace, "--set", f"profile.trace-frames={frames}"]
        for value in ("0", "50"):
            late, missed, ages = [], [], []
            scheduled = command + ["--set", f"camera.capture-priority={value}"]
            report.note_command(f"priority {value}", scheduled)
            for _ in range(options.paced_rounds):
                with busy_processes(2 * os.cpu_count()):
                    summary = read_lookout(run(scheduled)[0])
                times, gone = lateness(trace, 30)
                late.append((times[len(times) // 2], times[len(times) * 99 // 100], times[-1]))
                missed.append(gone)
                ages.append(summary["latency_ms"]["frame_age"]["p99"])
            name = f", capture-priority {value}, processors busy twice"
            for i, rank in enumerate(("p50", "p99", "max")):
                report.add(f"capture late, {rank}{name}", [one[i] for one in late], "", 2, "ms")
            report.add(f"frames never captured{name}", missed, "", 0)
            report.add(f"p99 of frame age{name}", ages, "", 1, "ms")


def reporting(options, report):
    """The same run with every result and statistics, and with none."""
    model = str(ROOT / "models" / "selftest.pt")
    run_it = [options.lookout, "run", PACED, "--model", model, "--threads", "1"]
    run_it += ["--timeout", f"{options.paced_seconds:g}s", "--format", "json"]
    told = run_it + ["--set", "results.write=all", "--set", "log.stats-interval=1s", "--log-level", "info"]
    silent = run_it + ["--set", "results.write=changes", "--set", "log.stats-interval=1h", "--log-level", "off"]
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
