#!/usr/bin/env python3
"""Whether a trace is sound: check_trace.py FILE FRAMES

Events of a thread nest, what begins ends, operators lie in their frame's inference, and an arrow
leads from every frame's capture to its report.
"""

import json
import sys
from collections import Counter, defaultdict


def main():
    trace = json.load(open(sys.argv[1], encoding="utf-8"))
    frames = int(sys.argv[2])
    events = trace["traceEvents"]
    phases = Counter(e["ph"] for e in events)
    assert set(phases) <= set("MXbestf"), phases
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}

    threads = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            start = round(e["ts"] * 1000)  # whole nanoseconds: nothing is lost in a sum
            threads[e["tid"]].append((start, start + round(e["dur"] * 1000), e))
    assert set(threads) <= set(names), "a thread without a name"
    for slices in threads.values():
        slices.sort(key=lambda s: (s[0], -s[1], s[2]["cat"] == "operator"))
        open_slices = []
        for start, end, e in slices:
            while open_slices and open_slices[-1][1] <= start:
                open_slices.pop()
            assert not open_slices or end <= open_slices[-1][1], f"does not nest: {e}"
            if e["cat"] == "operator":
                outer = open_slices[0][2]
                assert outer["name"] == "inference", f"outside of the inference: {e}"
                assert outer["args"]["frame"] == e["args"]["frame"], f"in another frame: {e}"
            else:
                assert not open_slices, f"a stage within another: {e}"
            open_slices.append((start, end, e))

    waits = {p: {e["id2"]["local"]: e["ts"] for e in events if e["ph"] == p} for p in "be"}
    assert waits["b"].keys() == waits["e"].keys()
    assert all(waits["b"][i] <= waits["e"][i] for i in waits["b"])

    assert phases["s"] == phases["t"] == phases["f"] == frames, phases
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
    stages = Counter(e["name"] for s in threads.values() for _, _, e in s if e["cat"] == "stage")
    for stage in ("preprocess", "inference", "top-k", "report"):
        assert stages[stage] == frames, stages
    operators = sum(e["cat"] == "operator" for s in threads.values() for _, _, e in s)
    print(f"{frames} frames, {operators} operators, threads {sorted(names.values())}")


main()
