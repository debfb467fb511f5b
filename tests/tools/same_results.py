"""Compares two runs over the same pictures: JSON lines of `lookout --format json`.

usage: same_results.py EXPECTED ACTUAL TOLERANCE

Every picture has to get the same best label in both, and every label that both name the same score
within TOLERANCE.
"""

import json
import os
import sys


def results(path):
    """{picture: {label: score, best first}}"""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["type"] == "classification":
                found[os.path.basename(line["file"])] = {
                    result["label"]: result["score"] for result in line["results"]
                }
    return found


expected, actual = results(sys.argv[1]), results(sys.argv[2])
tolerance = float(sys.argv[3])
if not expected or expected.keys() != actual.keys():
    sys.exit(f"pictures differ: {sorted(expected)} and {sorted(actual)}")
largest = 0.0
failures = []
for picture, scores in expected.items():
    best, other = next(iter(scores)), next(iter(actual[picture]))
    if best != other:
        failures.append(f"{picture}: {best} became {other}")
    for label in scores.keys() & actual[picture].keys():
        largest = max(largest, abs(scores[label] - actual[picture][label]))
print(f"{len(expected)} pictures, scores differ by {largest:.4f} at most")
if largest > tolerance:
    failures.append(f"that is more than {tolerance}")
sys.exit("\n".join(failures) or None)
