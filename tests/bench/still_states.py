#!/usr/bin/python3
"""Whether the states of whole videos are the same with and without reused results.

  still_states.py PICTURES --lookout build/develop/app/lookout --model FILE
  still_states.py PICTURES ... --scenes cut,clock --codings raw-3,h264-3 --json FILE

Makes videos of 5 s, 640x480, 30 frames a second, of the pictures (.jpg) in and below PICTURES: each shows
one, and after 1.5 s something happens, which may bring in another one. They are coded without loss, as MJPG
(quality about 85) or as H.264, with independent noise of a standard deviation in each channel: "raw-3" has
one of 3 levels. Each coding has another pair of pictures.

`lookout run --still no` and `--still yes` classify all frames of each. Compared are the states
(state.smoothing=500ms, state.min-duration=1s), when they change, and the best label of each frame, which is
the state without these settings. A model that is unsure changes its mind with the noise: so a third run,
without reused results, has the same scene with other noise. Prints a Markdown table. Same input, same
videos.

Needs ffmpeg, and Pillow and NumPy as `deploy/install-deps.sh --bench` installs them.
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, ImageDraw, ImageOps

SIZE = (640, 480)
FPS, FRAMES, EVENT = 30, 150, 45
STATE = ("state.smoothing=500ms", "state.min-duration=1s")
CODINGS = ("raw-1", "raw-3", "raw-6", "raw-12", "mjpg-3", "h264-3")
ENCODERS = {
    "raw": ("-c:v", "rawvideo", "-pix_fmt", "bgr24"),
    "mjpg": ("-c:v", "mjpeg", "-pix_fmt", "yuvj422p", "-q:v", "4"),
    "h264": ("-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"),
}
CLOCK = (0.0, 0.0, 0.5, 0.1)  # x, y, width, height, of the frame


def put_object(frame, other, share):
    side = round(min(SIZE) * math.sqrt(share))
    picture = Image.fromarray(other.astype(numpy.uint8)).resize((side, side), Image.BOX)
    x, y = SIZE[0] // 2 - min(SIZE) // 5 + 3, SIZE[1] // 2 - min(SIZE) // 7 + 5
    frame[y : y + side, x : x + side] = numpy.asarray(picture)
    return frame


def part_of(t, frames):
    """How much of an event of so many frames is over."""
    return min(max((t - EVENT + 1) / frames, 0), 1)


def nothing(scene, _other, _t):
    return scene


def cut(scene, other, t):
    return other if t >= EVENT else scene


def fade(scene, other, t):
    part = part_of(t, 60)
    return scene * (1 - part) + other * part


def enters(share):
    return lambda scene, other, t: put_object(scene.copy(), other, share) if t >= EVENT else scene


def passes(scene, other, t):
    """The other picture is there for half a second."""
    return other if EVENT <= t < EVENT + FPS // 2 else scene


def dims(to, frames):
    return lambda scene, _other, t: scene * (1 - (1 - to) * part_of(t, frames))


def infrared(scene, _other, t):
    """Gray, and brighter in the dark, when the filter has left the light's path."""
    if t < EVENT:
        return scene
    gray = 255 * (scene.mean(axis=2, keepdims=True) / 255) ** 0.7
    return numpy.repeat(gray, 3, axis=2)


def flicker(strength, bands):
    """Light at 100 Hz, seen at 29.97 frames a second."""

    def draw(scene, _other, t):
        phase = 100 / 29.97 * t + bands * numpy.arange(SIZE[1]) / SIZE[1]
        factors = 1 + strength * numpy.sin(2 * math.pi * phase)
        return scene * factors.astype(numpy.float32)[:, None, None]

    return draw


def clock(scene, _other, t):
    picture = Image.fromarray(scene.astype(numpy.uint8))
    ImageDraw.Draw(picture).text((90, 14), f"12:34:{10 + t // FPS}", fill=(255, 255, 255))
    return numpy.asarray(picture, dtype=numpy.float32)


def shakes(pixels):
    def draw(scene, _other, t):
        x, y = pixels * math.sin(t * 2.4), pixels * math.cos(t * 1.7)
        picture = Image.fromarray(scene.astype(numpy.uint8))
        moved = picture.transform(SIZE, Image.AFFINE, (1, 0, x, 0, 1, y), Image.BILINEAR)
        return numpy.asarray(moved, dtype=numpy.float32)

    return draw


def after(first, second):
    return lambda scene, other, t: second(first(scene, other, t), other, t)


SCENES = {
    "nothing": ("nothing happens", nothing),
    "cut": ("cut to another picture", cut),
    "half-second": ("another picture for half a second", passes),
    "fade": ("fade to another picture in 2 s", fade),
    "object-20": ("an object of 20 % enters", enters(0.2)),
    "object-5": ("an object of 5 % enters", enters(0.05)),
    "object-1": ("an object of 1 % enters", enters(0.01)),
    "object-0.25": ("an object of 0.25 % enters", enters(0.0025)),
    "dim-half": ("lights dim to half in 1 s", dims(0.5, FPS)),
    "dim-10": ("lights dim by 10 % in 1 s", dims(0.9, FPS)),
    "exposure": ("exposure 15 % up", dims(1.15, 1)),
    "infrared": ("infrared filter switches", infrared),
    "flicker-3": ("flicker of 3 %, bands", flicker(0.03, 3.3)),
    "flicker-10": ("flicker of 10 %, bands", flicker(0.1, 3.3)),
    "flicker-cut": ("flicker of 3 %, bands; cut", after(cut, flicker(0.03, 3.3))),
    "clock": ("a drawn clock", clock),
    "clock-ignored": ("a drawn clock, ignored; cut", after(cut, clock)),
    "shake-0.25": ("a camera that shakes by 1/4 pixel", shakes(0.25)),
    "shake-1": ("a camera that shakes by 1 pixel; cut", after(cut, shakes(1))),
}


def read_picture(file):
    with Image.open(file) as picture:
        fitted = ImageOps.fit(picture.convert("RGB"), SIZE, Image.BICUBIC)
        return numpy.asarray(fitted, dtype=numpy.float32)


@functools.lru_cache(maxsize=2)
def noise_pool(deviation):
    room = 64
    noise = numpy.random.default_rng(1)
    return noise.normal(0, deviation, (SIZE[1] + room, SIZE[0] + room, 3)).astype(numpy.float32)


def write_video(path, draw, pictures, coding, seed):
    kind, deviation = coding.split("-")
    pool = noise_pool(float(deviation))
    places = numpy.random.default_rng(seed)
    command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{SIZE[0]}x{SIZE[1]}", "-r", str(FPS), "-i", "-", "-threads", "1"]
    with subprocess.Popen([*command, *ENCODERS[kind], path], stdin=subprocess.PIPE) as encoder:
        for t in range(FRAMES):
            y, x = places.integers(0, pool.shape[0] - SIZE[1]), places.integers(0, pool.shape[1] - SIZE[0])
            frame = draw(*pictures, t) + pool[y : y + SIZE[1], x : x + SIZE[0]]
            encoder.stdin.write(numpy.clip(frame + 0.5, 0, 255).astype(numpy.uint8).tobytes())
    if encoder.returncode != 0:
        sys.exit(f"still_states.py: ffmpeg ended with {encoder.returncode}")


Run = collections.namedtuple("Run", "states labels reused")


def run(options, video, still, ignore):
    command = [options.lookout, "run", video, "--model", options.model, "--threads", "1"]
    command += ["--format", "json", "--log-level", "error", "--still", still]
    for setting in (*STATE, "log.stats-interval=1h", *([ignore] if ignore else [])):
        command += ["--set", setting]
    states, labels, reused = [], [], 0
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in map(json.loads, output.splitlines()):
        if line["type"] == "state":
            states.append((line["state"], line["seq"]))
        elif line["type"] == "classification":
            labels.append(line["results"][0]["label"])
            reused += line.get("reused", False)
    return Run(states, labels, reused / len(labels))


def share_of_others(one, other):
    return sum(a != b for a, b in zip(one.labels, other.labels)) / len(one.labels)


def compare(options, folder, scene, coding):
    """A row of the results."""
    video = f"{folder}/{scene}-{coding}.avi"
    pictures = [read_picture(file) for file in options.files[coding]]
    ignore = "still.ignore={},{},{},{}".format(*CLOCK) if "ignored" in scene else ""
    runs = []
    for seed, still in ((1, "no"), (1, "yes"), (2, "no")):
        if still == "no":
            write_video(video, SCENES[scene][1], pictures, coding, seed)
        runs.append(run(options, video, still, ignore))
    os.remove(video)
    each, reusing, other = runs
    names = [[state for state, _ in one.states] for one in runs]
    late = [b - a for (_, a), (_, b) in zip(each.states, reusing.states)] if names[0] == names[1] else []
    return {"scene": scene, "coding": coding, "reused": reusing.reused, "late": late,
            "same": names[0] == names[1], "same_of_other_noise": names[0] == names[2],
            "labels": share_of_others(each, reusing), "labels_of_other_noise": share_of_others(each, other),
            "states": [one.states for one in runs]}  # fmt: skip


def table_row(scene, rows):
    shares = [100 * row["reused"] for row in rows]
    late = [frames for row in rows for frames in row["late"]]
    labels, noise = ([100 * row[key] for row in rows] for key in ("labels", "labels_of_other_noise"))
    span = f"{min(late)} to {max(late)}" if any(late) else "0"
    return (f"| {SCENES[scene][0]} | {min(shares):.0f} to {max(shares):.0f} % "
            f"| {sum(row['same'] for row in rows)} of {len(rows)} "
            f"| {sum(row['same_of_other_noise'] for row in rows)} of {len(rows)} | {span} "
            f"| {sum(labels) / len(rows):.0f} %, {sum(noise) / len(rows):.0f} % |")  # fmt: skip


def read_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pictures", metavar="PICTURES")
    parser.add_argument("--lookout", required=True, metavar="FILE")
    parser.add_argument("--model", required=True, metavar="FILE")
    parser.add_argument("--scenes", default=",".join(SCENES), help=f"default {','.join(SCENES)}")
    parser.add_argument("--codings", default=",".join(CODINGS), help=f"default {','.join(CODINGS)}")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="at a time; default 1")
    parser.add_argument("--json", metavar="FILE", help="write what was compared")
    options = parser.parse_args()
    files = sorted(map(str, pathlib.Path(options.pictures).rglob("*.jpg")))
    pairs = len(CODINGS)
    if len(files) < 2 * pairs:
        sys.exit(f"still_states.py: {options.pictures} has too few pictures (.jpg)")
    spread = [files[i * len(files) // (2 * pairs)] for i in range(2 * pairs)]
    options.files = {CODINGS[i]: (spread[i], spread[i + pairs]) for i in range(pairs)}
    return options


def main():
    options = read_options()
    all_rows = []
    print("| scene | reused | same states | with other noise | later, frames "
          "| other best label; with other noise |")  # fmt: skip
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for scene in options.scenes.split(","):
            futures = [pool.submit(compare, options, folder, scene, coding)
                       for coding in options.codings.split(",")]  # fmt: skip
            rows = [future.result() for future in futures]
            print(table_row(scene, rows), flush=True)
            all_rows += rows
            if options.json:
                with open(options.json, "w", encoding="utf-8") as file:
                    json.dump(all_rows, file, indent=1)


if __name__ == "__main__":
    main()
