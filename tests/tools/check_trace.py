#!/usr/bin/env python3
"""Checks that a trace is sound: check_trace.py FILE FRAMES

Events of a thread nest, every begin has an end, operators lie in their frame's inference, each frame is a
step on the thread that classifies it, and an arrow leads from every frame's capture to its report.
"""

import json
import sys
from collections import Counter, defaultdict


def slices_of_threads(events):
    """{thread: [(start, end, event), ...]} in whole nanoseconds, outer slices first."""
    threads = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            start = round(e["ts"] * 1000)
            threads[e["tid"]].append((start, start + round(e["dur"] * 1000), e))
    order = ["user_annotation", "stage", "operator", "label"]
    for slices in threads.values():
        slices.sort(key=lambda s: (s[0], -s[1], order.index(s[2]["cat"])))
    return threads


def check_operator(event, outer):
    assert outer["name"] == "inference", f"outside of the inference: {event}"
    assert outer["args"]["frame"] == event["args"]["frame"], f"in another frame: {event}"


def check_nesting(slices):
    open_slices = []
    for start, end, e in slices:
        while open_slices and open_slices[-1][1] <= start:
            open_slices.pop()
        assert not open_slices or end <= open_slices[-1][1], f"does not nest: {e}"
        stages = [s[2] for s in open_slices if s[2]["cat"] == "stage"]
        if e["cat"] == "operator":
            assert stages, f"outside of every stage: {e}"
            check_operator(e, stages[0])
        else:
            assert not stages, f"a stage within another: {e}"
        for _, _, step in open_slices[:1]:
            assert step["args"]["frame"] == e["args"]["frame"], f"in the step of another: {e}"
        open_slices.append((start, end, e))


def check_waits(events):
    begins, ends = ({e["id2"]["local"]: e["ts"] for e in events if e["ph"] == p} for p in "be")
    assert begins.keys() == ends.keys()
    assert all(begins[i] <= ends[i] for i in begins)


def check_arrows(events, threads):
    for phase, stage in (("s", "capture"), ("t", "preprocess"), ("f", "report")):
        places = {
            e["args"]["frame"]: (tid, start, end)
            for tid, slices in threads.items()
            for start, end, e in slices
            if e["name"] == stage
        }
        for e in events:
            if e["ph"] == phase:
                tid, start, end = places[e["id"]]
                assert tid == e["tid"] and start <= round(e["ts"] * 1000) <= end, f"hangs loose: {e}"


def check_cpu_times(threads):
    """A thread never runs for longer than its stage takes."""
    for slices in threads.values():
        for start, end, e in slices:
            if e["cat"] == "stage":
                used = e["args"]["cpu_us"] + e["args"].get("writer_us", 0)
                assert 0 <= used <= (end - start) / 1000 + 0.01, e


def check_counters(events):
    values = defaultdict(list)
    for e in events:
        if e["ph"] == "C":
            values[e["name"]] += e["args"].values()
    assert set(values["double buffer"]) <= {0, 1}, values["double buffer"]
    assert values["dropped"] == sorted(values["dropped"]) and values["dropped"][0] == 0
    assert min(values["with workers"]) >= 0 and values["resident memory"]


def check_counts(phases, threads, frames):
    assert set(phases) <= set("MXbestfC"), phases
    assert phases["s"] == phases["t"] == phases["f"] == frames, phases
    stages = Counter(e["name"] for s in threads.values() for _, _, e in s if e["cat"] == "stage")
    for stage in ("preprocess", "inference", "top-k", "report"):
        assert stages[stage] == frames, stages
    steps = [e["name"] for s in threads.values() for _, _, e in s if e["cat"] == "user_annotation"]
    assert len(set(steps)) == len(steps) == frames, steps


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    frames = int(sys.argv[2])
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    threads = slices_of_threads(events)
    assert set(threads) <= set(names), "a thread without a name"
    check_counts(Counter(e["ph"] for e in events), threads, frames)
    for slices in threads.values():
        check_nesting(slices)
    check_waits(events)
    check_cpu_times(threads)
    check_counters(events)
    check_arrows(events, threads)
    operators = sum(e["cat"] == "operator" for s in threads.values() for _, _, e in s)
    print(f"{frames} frames, {operators} operators, threads {sorted(names.values())}")


main()
