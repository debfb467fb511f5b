"""Rates of lookout and its peers on frames that come as fast as they are taken."""

import os
import pathlib
import sys

from running import read_lookout, read_peer, run

HERE = pathlib.Path(__file__).resolve().parent
LITERT = "ai-edge-litert==2.1.4"
UNPACED = "test://colorsquares?size=640x480&fps=0"


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
        if "workers" in help_text:
            variants[f"lookout {kind}, 2 workers"] = lookout(
                archive, "--threads", "1", "--set", "model.workers=2"
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
    for kind, limit in (("quint8", 4), ("qint8", 12)):
        values = [100 * result[f"lookout {kind}"]["rest"] for result in results]
        report.add(f"everything but the model, {kind}, of a frame", values, f"<= {limit}", 1, "%")
    for kind in ("qint8", "quint8"):
        one = f"lookout {kind}"
        ratio(f"2 workers / 1, {kind}", f"{one}, 2 workers", one, ">= 1.85")
        ratio(f"2 threads / 1, {kind}", f"{one}, 2 threads", one, ">= 1.6")
        ratio(f"--threads auto / 1, {kind}", f"{one}, auto", one, ">= 0.95")
