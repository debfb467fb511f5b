#!/usr/bin/python3
"""Measures models of `lookout train`: accuracy, calibration, and what is taken for unknown.

    training_figures.py PROGRAM BASE TRAIN VAL [OTHERS] [--draws N] [--pictures K]

TRAIN and VAL have a folder for each class. OTHERS is a folder of pictures of other things. With --draws,
also trains with K pictures of each class, drawn N times. Prints a line for each figure.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile


def lookout(program, *arguments):
    done = subprocess.run([program, *arguments, "--log-level", "warn"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def evaluate(program, model, folder):
    return json.loads(lookout(program, "eval", folder, "--model", model, "--threads", "1", "--format", "json"))


def unknown_scores(results, unknown):
    return [dict(zip(r["predicted"], r["scores"]))[unknown] for r in results]


def auroc(known, others):
    """The share of the pairs in which the other thing is the less familiar one."""
    above = sum((o > k) + 0.5 * (o == k) for k in known for o in others)
    return above / (len(known) * len(others))


def measure_unknown(program, model, val, others):
    """Others are counter-examples for `eval`: it expects "unknown"."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(others), os.path.join(folder, "_other"))
        report = evaluate(program, model, folder)
    results = report["results"]
    unknown = results[0]["expected"]
    taken = sum(r["predicted"][0] == unknown for r in results)
    known = unknown_scores(val["results"], unknown)
    print(f"others: {taken} of {len(results)} unknown, {100 * taken / len(results):.1f} %")
    print(f"AUROC {auroc(known, unknown_scores(results, unknown)):.4f}")


def draw(train, folder, count, seed):
    """Links `count` pictures of each class into `folder`."""
    chooser = random.Random(seed)
    for name in sorted(os.listdir(train)):
        os.makedirs(os.path.join(folder, name))
        for file in chooser.sample(sorted(os.listdir(os.path.join(train, name))), count):
            os.symlink(os.path.abspath(os.path.join(train, name, file)), os.path.join(folder, name, file))


def measure_draws(options):
    shares = []
    for seed in range(options.draws):
        with tempfile.TemporaryDirectory() as folder:
            draw(options.train, folder + "/set", options.pictures, seed)
            model = folder + "/m.pt"
            lookout(options.program, "train", folder + "/set", "-o", model, "--model", options.base)
            shares.append(evaluate(options.program, model, options.val)["top1_percent"])
    print(f"{options.pictures} of each class: mean {statistics.mean(shares):.1f} %, lowest {min(shares):.1f} %")


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "base", "train", "val"):
        parser.add_argument(name)
    parser.add_argument("others", nargs="?")
    parser.add_argument("--draws", type=int, default=0)
    parser.add_argument("--pictures", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = folder + "/model.pt"
        report = json.loads(
            lookout(options.program, "train", options.train, "-o", model, "--model", options.base, "--format", "json")
        )
        print(f"cross-validation: {report['accuracy']}, {report['seconds']} s, ECE {report['calibration']}")
        val = evaluate(options.program, model, options.val)
        print(f"held out: {val['top1_percent']:.2f} %, {val['refused']} refused")
        print(f"calibration error: {val['calibration']['ece']:.4f}")
        if options.others:
            measure_unknown(options.program, model, val, options.others)
    if options.draws:
        measure_draws(options)


if __name__ == "__main__":
    main()
