#!/usr/bin/python3
"""Instructions a frame of a V4L2 camera on an emulated Cortex-A72, whole process.

  cameras.py                                  YUYV, NV12 and MJPG, 640x480 to 1920x1080
  cameras.py --formats NV12 --sizes 640x480 --scenes still,changing --few 40 --frames 8
  cameras.py --formats YUYV-709,YUYV-full     of BT.709; of BT.601 with the full range
  cameras.py --set camera.hflip=true          any setting of `lookout run`
  cameras.py --set watch.a.roi=0,0,1,1 --set watch.b.roi=0,0,1,1    several watches
  cameras.py --functions 20 --json FILE

The program takes frames from a camera of its own (fed_camera.c), which gives the next one when the
result of the one before has been read, however slow the emulator is: none is dropped. Four buffers
come in turn. In a still scene they show one photograph with other noise of a sensor in each, in a
changing one four photographs. A frame is in its buffer already, as a driver's is.

Counted is the whole process, from the moment in which a frame is taken to that k frames later. The
first n frames are not counted.
"engine": in the libraries of the engine alone. "beside": all that the bare loop of the model does not
execute, bare_forward or bare_session; lookout gives a quantized TorchScript model its bytes, which
saves the model its first operators, so that this can be too small by up to 3 M. Threads that wait do so
in the emulator's time, which is slower: that adds up to 0.1 M to a frame that is classified.

Needs what `deploy/install-deps.sh --bench`, `--models` and `--target` install, and a build of `cmake --preset
pi4 -DBUILD_TESTING=ON` (targets lookout, bare_forward, bare_session).
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import numpy
from emulator import Counts, build_plugin, count_bare, emulated, sysroot_of
from PIL import Image, ImageOps
from running import Failure, run_main

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUFFERS, SLOT = 4, 8 << 20  # as in fed_camera.c
PATIENCE = 600  # seconds without a result, after which a run has failed
JPEG_QUALITY = 85

# V4L2_COLORSPACE_SMPTE170M, _REC709; V4L2_QUANTIZATION_FULL_RANGE, _LIM_RANGE
BT601, BT709 = 1, 3
FULL, LIMITED = 1, 2
FORMATS = {
    "YUYV": ("YUYV", BT601, LIMITED),
    "YUYV-709": ("YUYV", BT709, LIMITED),
    "YUYV-full": ("YUYV", BT601, FULL),
    "NV12": ("NV12", BT601, LIMITED),
    "NV12-709": ("NV12", BT709, LIMITED),
    "NV12-full": ("NV12", BT601, FULL),
    "MJPG": ("MJPG", BT601, FULL),
}
SHARES = {BT601: (0.299, 0.114), BT709: (0.2126, 0.0722)}  # of red and of blue in luma

# The first whose pattern is found in "LIBRARY FUNCTION".
PARTS = (
    ("engine", r"^libtorch|^libc10|^libonnxruntime|^libgomp"),
    ("decode, convert", r"^libjpeg|^libopencv|[Jj]peg|[Bb]t709|convert|V4l2"),
    ("preprocess", r"Preprocessor"),
    ("rest of lookout", r"^lookout|^liblookout"),
    ("system's libraries", r""),
)


def planes_of(rgb, space, quantization):
    """Luma, blue and red difference as bytes, of a picture in 0..255."""
    red, green, blue = (rgb[..., i] / 255 for i in range(3))
    red_share, blue_share = SHARES[space]
    luma = red_share * red + blue_share * blue + (1 - red_share - blue_share) * green
    u = (blue - luma) / (2 * (1 - blue_share))
    v = (red - luma) / (2 * (1 - red_share))
    full = quantization == FULL
    scaled = [luma * (255 if full else 219) + (0 if full else 16)]
    scaled += [difference * (255 if full else 224) + 128 for difference in (u, v)]
    return [numpy.clip(plane + 0.5, 0, 255).astype(numpy.uint8) for plane in scaled]


def encode(rgb, kind):
    """The bytes of a frame, of a picture in 0..255 whose sides are even."""
    fourcc, space, quantization = FORMATS[kind]
    if fourcc == "MJPG":
        with tempfile.TemporaryFile() as file:
            picture = Image.fromarray(numpy.clip(rgb + 0.5, 0, 255).astype(numpy.uint8))
            picture.save(file, "JPEG", quality=JPEG_QUALITY, subsampling="4:2:2")
            file.seek(0)
            return file.read()
    luma, u, v = planes_of(rgb, space, quantization)
    if fourcc == "NV12":
        return luma.tobytes() + numpy.stack([u[::2, ::2], v[::2, ::2]], axis=-1).tobytes()
    return numpy.stack([luma[:, ::2], u[:, ::2], luma[:, 1::2], v[:, ::2]], axis=-1).tobytes()


def frames_of(pictures, kind, size, scene, sigma):
    """The bytes of each buffer."""
    noise = numpy.random.default_rng(1)
    frames = []
    for i in range(BUFFERS):
        with Image.open(pictures[i % len(pictures) if scene == "changing" else 0]) as picture:
            rgb = numpy.asarray(ImageOps.fit(picture.convert("RGB"), size), dtype=float)
        frames.append(encode(rgb + noise.normal(0, sigma, rgb.shape), kind))
    return frames


def write_camera(path, kind, size, frames):
    """The files of a camera, as fed_camera.c reads them."""
    fourcc, space, quantization = FORMATS[kind]
    line = {"YUYV": 2 * size[0], "NV12": size[0], "MJPG": 0}[fourcc]
    words = [fourcc, *size, line, space, quantization, *map(len, frames)]
    pathlib.Path(f"{path}.txt").write_text(" ".join(map(str, words)), encoding="utf-8")
    with open(f"{path}.frames", "wb") as file:
        for i, frame in enumerate(frames):
            file.seek(i * SLOT)
            file.write(frame)
        file.truncate(BUFFERS * SLOT)
    os.mkfifo(path)


def build_camera(folder):
    library = folder / "fed_camera.so"
    command = ["aarch64-linux-gnu-gcc", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC"]
    subprocess.run([*command, "-o", str(library), str(HERE / "fed_camera.c"), "-ldl"], check=True)
    return library


def feed(process, fifo, frames, watches):
    """Gives a frame, waits for its result of each watch, and so on; then ends the run."""
    shown, results = 0, 0
    os.write(fifo, b".")
    for line in process.stdout:
        if json.loads(line)["type"] != "classification":
            continue
        results += 1
        if results % watches != 0:
            continue
        shown += 1
        if shown == frames:
            process.send_signal(signal.SIGINT)
        elif shown < frames:
            os.write(fifo, b".")
    return shown


def feed_camera(command, camera, frames, watches, log):
    """Runs lookout in the emulator with that many frames, each of which has a result of each watch."""
    with open(log, "w+", encoding="utf-8") as log:
        fifo = os.open(camera, os.O_RDWR)
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True
        )
        reader = concurrent.futures.ThreadPoolExecutor(1)
        fed = reader.submit(feed, process, fifo, frames, watches)
        try:
            shown = fed.result(PATIENCE)
            status = process.wait(PATIENCE)
        except (TimeoutError, concurrent.futures.TimeoutError, subprocess.TimeoutExpired):
            shown, status = 0, "no end"
        finally:
            process.kill()
            os.close(fifo)
            reader.shutdown()
        if status != 0 or shown != frames:
            log.seek(0)
            raise Failure(f"{' '.join(command)}: {status}, {shown} results: {log.read()[-500:]}")


def parts_of(functions):
    parts = collections.Counter({name: 0 for name, _ in PARTS})
    for function, instructions in functions.items():
        parts[next(name for name, pattern in PARTS if re.search(pattern, function))] += instructions
    return parts


class Bench:
    """The emulator, and what runs in it."""

    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.plugin = build_plugin(folder)
        self.camera = build_camera(folder)
        self.sysroot = sysroot_of(options.build)
        self.counts = Counts()

    def command(self, source, out):
        options = self.options
        line = [f"{options.build}/app/lookout", "run", source, "--model", options.model]
        line += ["--threads", "1", "--format", "json", "--log-level", "warn"]
        line += ["--set", f"model.base={options.base}"] if options.base else []
        for setting in ["log.stats-interval=1h", *options.set]:
            line += ["--set", setting]
        environment = ["-E", f"LD_PRELOAD={self.camera}", "-E", f"LOOKOUT_FED_CAMERA={source[7:]}"]
        command = emulated(self.plugin, self.sysroot, line, out)
        return [command[0], *environment, *command[1:]]

    def frame(self, kind, size, scene):
        """{"LIBRARY FUNCTION": instructions a frame}"""
        options = self.options
        sides = tuple(map(int, size.split("x")))
        frames = frames_of(options.pictures, kind, sides, scene, options.noise)
        name = f"{self.folder}/{kind}-{size}-{scene}"
        write_camera(name, kind, sides, frames)
        out = f"{name}.out"
        last = options.few + options.frames
        watches = {setting.split(".")[1] for setting in options.set if setting.startswith("watch.")}
        command = self.command(f"v4l2://{name}", out)
        feed_camera(command, name, last + 1, len(watches) or 1, f"{out}.log")
        os.remove(f"{name}.frames")
        return self.counts.a_frame(f"{out}.{options.few}", f"{out}.{last}", options.frames)

    def bare(self):
        """The instructions of the bare loop of the model, or of its base."""
        options = self.options
        files = [
            count_bare(self.plugin, self.sysroot, options.build, options.base or options.model, runs, f"{self.folder}/bare-{runs}")
            for runs in (1, 3)
        ]  # fmt: skip
        return sum(self.counts.a_frame(*files, 2).values())


def read_options():
    shared = ROOT.parent / "shared" / "models"
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", default=str(ROOT / "build" / "pi4"), help="default build/pi4")
    parser.add_argument("--model", default=str(shared / "mobilenet_v2_s8.onnx"), metavar="FILE")
    parser.add_argument("--base", metavar="FILE", help="the base of a model that is a head")
    parser.add_argument("--formats", default="YUYV,NV12,MJPG", help=f"of {','.join(FORMATS)}")
    parser.add_argument("--sizes", default="640x480,1280x720,1920x1080")
    parser.add_argument("--scenes", default="changing", help="of still,changing; default changing")
    parser.add_argument("--pictures", default=str(shared / "samples"), metavar="DIR")
    parser.add_argument("--noise", type=float, default=2, help="standard deviation; default 2")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--few", type=int, default=3, help="n; default 3")
    parser.add_argument("--frames", type=int, default=4, help="k; default 4: each buffer once")
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="print so many of each")
    parser.add_argument("--json", metavar="FILE", help="write everything that was counted")
    options = parser.parse_args()
    for file in (f"{options.build}/app/lookout", options.model):
        if not os.path.exists(file):
            raise Failure(f"{file} is not there; see --help")
    options.pictures = sorted(
        str(file) for file in pathlib.Path(options.pictures).iterdir()
        if file.suffix.lower() in (".jpg", ".jpeg", ".png")
    )  # fmt: skip
    if len(options.pictures) < BUFFERS:
        raise Failure(f"--pictures: {BUFFERS} are needed")
    return options


def main():
    options = read_options()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(options, pathlib.Path(name))
        bare = bench.bare()
        print("million instructions a frame, whole process, 1 thread, Cortex-A72 emulated")
        print(f"{os.path.basename(options.model)}: bare loop {bare / 1e6:.2f}")
        names = [part for part, _ in PARTS]
        print(f"{'':<32} {'whole':>9} {'beside':>9}  " + "  ".join(names))
        for kind in options.formats.split(","):
            for size in options.sizes.split(","):
                for scene in options.scenes.split(","):
                    functions = bench.frame(kind, size, scene)
                    parts = parts_of(functions)
                    total = sum(functions.values())
                    rows.append({"format": kind, "size": size, "scene": scene, "whole": total,
                                 "bare": bare, "parts": dict(parts)})  # fmt: skip
                    print(f"{kind:<10} {size:<10} {scene:<10} {total / 1e6:9.3f} {(total - bare) / 1e6:9.3f}  "
                          + "  ".join(f"{parts[part] / 1e6:{len(part)}.3f}" for part in names), flush=True)  # fmt: skip
                    for function, instructions in functions.most_common(options.functions):
                        print(f"{instructions / 1e6:12.3f} M  {function[:110]}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    run_main(main)
