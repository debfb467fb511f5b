"""Figures with their spread and their bars, as a table."""

import statistics


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
