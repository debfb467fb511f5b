#!/usr/bin/python3
"""Makes the self-test model again: trains, quantizes, evaluates; writes the archive and a report.

    /usr/bin/python3 models/train_selftest.py

Needs (Debian 12): python3-torch python3-torchvision python3-pil python3-numpy libopenblas0
"""

import argparse
import os
import sys
import time

# Before torch is imported: OpenMP's waiting threads would take the cores from those that draw.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import numpy as np
import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader

import archive
import augment
import patterns
import quantize

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "selftest"
SIDE = 224
SEED, HELD_OUT_SEED, CALIBRATION_SEED = 1, 2, 3
WIDTH = 0.35  # the narrowest MobileNetV2 that the paper's authors published
# Noisy gray and scaled-down gray noise differ in color only, which takes more examples to learn.
HARD = patterns.NAMES + ("gray", "noise") * 6
HARDEST = HARD + ("gray", "checkers", "hlines", "vlines", "checkers")
# Stages of (peak learning rate, max noise, phases); phases of (side of the pictures, pictures a
# batch, batches, patterns). The first steps are as good on small pictures.
STAGES = (
    (4e-3, 27, ((112, 64, 160, patterns.NAMES), (SIDE, 32, 440, patterns.NAMES))),
    (1.5e-3, 27, ((SIDE, 32, 200, HARD),)),
    (1.5e-3, 40, ((SIDE, 32, 140, HARD),)),
    (2e-3, 40, ((SIDE, 32, 420, HARDEST),)),
)
WEIGHT_DECAY = 1e-4
CALIBRATION_PICTURES, HELD_OUT_PICTURES = 512, 1600
CHECKED_SIZES = ((224, 224), (320, 180), (640, 480), (1280, 720))
CHECKED_SHIFTS = 29  # all there are at 224x224
CHECKED_NOISE = 25
WORKERS = 2


def float_model():
    return torchvision.models.mobilenet_v2(width_mult=WIDTH, num_classes=len(patterns.LABELS))


def quantizable_model():
    return torchvision.models.quantization.mobilenet_v2(
        width_mult=WIDTH, num_classes=len(patterns.LABELS)
    )


def training_batches(stage, max_noise, phases):
    for phase, (side, batch, batches, names) in enumerate(phases):
        yield from DataLoader(
            augment.Patterns((SEED, 2 * stage + phase), batches * batch, side, names, max_noise),
            batch,
            shuffle=True,
            num_workers=WORKERS,
            generator=torch.Generator().manual_seed(SEED),
        )


def train(model, stage):
    rate, max_noise, phases = STAGES[stage]
    steps = sum(batches for _, _, batches, _ in phases)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps, pct_start=0.15)
    model.train().to(memory_format=torch.channels_last)
    for step, (inputs, targets) in enumerate(training_batches(stage, max_noise, phases)):
        outputs = model(inputs.to(memory_format=torch.channels_last))
        loss = nn.functional.cross_entropy(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 20 == 0 or step == steps - 1:
            right = (outputs.argmax(1) == targets).float().mean().item()
            print(f"stage {stage} step {step}/{steps} loss {loss.item():.4f} right {right:.3f}")
    return model.eval().to(memory_format=torch.contiguous_format)


def batches_of(pictures):
    return DataLoader(pictures, 32, num_workers=WORKERS)


def confusion(model, pictures):
    """counts[class][answer]"""
    counts = np.zeros((len(patterns.LABELS),) * 2, int)
    with torch.inference_mode():
        for inputs, targets in batches_of(pictures):
            np.add.at(counts, (targets.numpy(), model(inputs).argmax(1).numpy()), 1)
    return counts


def checked_frame(rng, name, size, shift, noise):
    """A frame as test:// makes it, with the marker somewhere."""
    frame = patterns.shift(patterns.draw(name, *size, rng), shift)
    augment.add_marker(rng, frame)
    frame = augment.central_part(frame)
    if noise:
        noisy = frame + noise * rng.standard_normal(frame.shape, np.float32)
        frame = np.clip(noisy, 0, 255).astype(np.uint8)
    return augment.to_square(frame, SIDE)


def shifts(width):
    reach = patterns.max_shift(width)
    return np.unique(np.linspace(-reach, reach, CHECKED_SHIFTS).round().astype(int))


class Checked(torch.utils.data.Dataset):
    """One pattern at one size, at the shifts of test://."""

    def __init__(self, name, size, noise):
        self.name, self.size, self.noise = name, size, noise
        self.shifts = shifts(size[0])

    def __len__(self):
        return len(self.shifts)

    def __getitem__(self, index):
        rng = np.random.default_rng((HELD_OUT_SEED, index, *self.size))
        frame = checked_frame(rng, self.name, self.size, int(self.shifts[index]), self.noise)
        return augment.to_tensor(frame), patterns.NAMES.index(self.name)


def check_patterns(models):
    """For each model: (right answers, frames, lowest probability of a right answer, no noise)."""
    right, frames = [0] * len(models), 0
    lowest = [1.0] * len(models)
    for size in CHECKED_SIZES:
        for noise in (0, CHECKED_NOISE):
            for index, name in enumerate(patterns.NAMES):
                inputs = torch.stack([x for x, _ in Checked(name, size, noise)])
                frames += len(inputs)
                for i, model in enumerate(models):
                    with torch.inference_mode():
                        probabilities = model(inputs).softmax(1)
                    hits = int((probabilities.argmax(1) == index).sum())
                    right[i] += hits
                    if hits < len(inputs):
                        print(f"{name} {size} noise {noise}: {hits} of {len(inputs)} right")
                    if not noise:
                        lowest[i] = min(lowest[i], probabilities[:, index].min().item())
    return [(r, frames, l) for r, l in zip(right, lowest)]


def min_at_rest(model):
    """The lowest probability of the right answer for plain patterns, not moved or disturbed."""
    lowest = 1.0
    for size in CHECKED_SIZES:
        for index, name in enumerate(patterns.NAMES):
            frame = patterns.draw(name, *size, np.random.default_rng(HELD_OUT_SEED))
            inputs = augment.to_tensor(augment.to_square(frame, SIDE))[None]
            with torch.inference_mode():
                lowest = min(lowest, model(inputs).softmax(1)[0, index].item())
    return lowest


def mistakes(counts):
    for wanted, got in zip(*np.nonzero(counts)):
        if wanted != got:
            pair = f"{patterns.LABELS[wanted]} taken for {patterns.LABELS[got]}"
            yield f"{pair}: {counts[wanted, got]}"


def accuracy(counts):
    return 100 * counts.trace() / counts.sum()


def metadata():
    return archive.make_metadata(
        name=NAME,
        size=(SIDE, SIDE),
        quantization=quantize.description("qint8"),
        tool="lookout models/train_selftest.py",
        weights=f"trained by models/train_selftest.py on drawn test patterns, seed {SEED}",
        trained=True,
    )


REPORT = """# The self-test model

`selftest.pt` knows the {classes} test patterns of `patterns.py`, which `test://` and the kernel's
`vivid` camera show. It is a MobileNetV2 of width {width} for {side}x{side} RGB pictures.
Nothing but drawn patterns went into it. Quantization:
{quantization}.

Made by `/usr/bin/python3 models/train_selftest.py`, seed {seed}, with torch {torch} and torchvision
{torchvision}, from {pictures} pictures, each seen once. Floating-point sums depend on the
processor, so another machine makes a model with these properties, not with the same bytes.

| | float | quantized |
| --- | --- | --- |
| held-out pictures, % right | {float_accuracy:.2f} | {quantized_accuracy:.2f} |
| patterns as `test://` draws them, right of {frames} | {float_right} | {quantized_right} |
| lowest probability of the right class, plain patterns | {float_rest:.3f} | {quantized_rest:.3f} |
| the same, shifted and with marker, without noise | {float_lowest:.3f} | {quantized_lowest:.3f} |

- Held-out pictures: {held_out} of seed {held_out_seed}, drawn as the training's: also other
  thicknesses, levels and polarities, on-screen text, noise, gamma, JPEG, 4:2:2 chroma.
- As `test://` draws them: {sizes}; {shifts} shifts over the whole
  range; the marker somewhere; without noise and with noise of {noise} levels.

Mistakes of the quantized model among the held-out pictures:

{mistakes}

{bytes} bytes, sha256 `{sha256}`.
"""


def write_report(path, archive_path, counts, checks, rests):
    made = metadata()
    text = REPORT.format(
        classes=len(patterns.LABELS),
        width=WIDTH,
        side=SIDE,
        quantization=made["quantization"],
        seed=SEED,
        torch=made["producer"]["torch"],
        torchvision=made["producer"]["torchvision"],
        pictures=sum(batch * batches for _, _, phases in STAGES for _, batch, batches, _ in phases),
        held_out=HELD_OUT_PICTURES,
        held_out_seed=HELD_OUT_SEED,
        float_accuracy=accuracy(counts[0]),
        quantized_accuracy=accuracy(counts[1]),
        frames=checks[0][1],
        sizes=", ".join(f"{w}x{h}" for w, h in CHECKED_SIZES),
        shifts=CHECKED_SHIFTS,
        noise=CHECKED_NOISE,
        float_right=checks[0][0],
        quantized_right=checks[1][0],
        float_rest=rests[0],
        quantized_rest=rests[1],
        float_lowest=checks[0][2],
        quantized_lowest=checks[1][2],
        mistakes="\n".join(f"- {line}" for line in mistakes(counts[1])) or "- none",
        bytes=os.path.getsize(archive_path),
        sha256=archive.sha256(archive_path),
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def evaluate(model, arguments):
    """Compares the archive with the float model and writes the report. False if it is no good."""
    loaded, _, _ = archive.load(arguments.output)
    held_out = augment.Patterns(HELD_OUT_SEED, HELD_OUT_PICTURES)
    counts = [confusion(m, held_out) for m in (model, loaded)]
    checks = check_patterns((model, loaded))
    rests = [min_at_rest(m) for m in (model, loaded)]
    write_report(arguments.report, arguments.output, counts, checks, rests)
    right, frames, _ = checks[1]
    return accuracy(counts[1]) >= 99 and right == frames and rests[1] > 0.8


def parse_arguments():
    parser = argparse.ArgumentParser(description="Make the self-test model again.")
    parser.add_argument("-o", "--output", default=os.path.join(HERE, f"{NAME}.pt"), help="archive")
    parser.add_argument("--report", default=os.path.join(HERE, f"{NAME}.md"), help="report")
    parser.add_argument("--float-weights", metavar="FILE", help="also keep the float state dict")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(2)
    started = time.monotonic()
    model = None
    for stage in range(len(STAGES)):
        torch.manual_seed(SEED + stage)
        model = train(model or float_model(), stage)
    print(f"trained in {time.monotonic() - started:.0f} s")
    if arguments.float_weights:
        torch.save(model.state_dict(), arguments.float_weights)
    calibration = augment.Patterns(CALIBRATION_SEED, CALIBRATION_PICTURES)
    inputs = (batch for batch, _ in batches_of(calibration))
    quantized = quantize.quantize(model, quantizable_model(), inputs, "qint8")
    archive.save(arguments.output, quantized, metadata(), patterns.LABELS)
    good = evaluate(model, arguments)
    with open(arguments.report, encoding="utf-8") as file:
        print(file.read())
    print(f"{time.monotonic() - started:.0f} s in all")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
