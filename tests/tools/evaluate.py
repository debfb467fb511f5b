"""Counts how often a model is right, through the Python pipeline: what `lookout eval` has to agree
with.

usage: evaluate.py ARCHIVE DIR

DIR has a folder for each class, called as its label, its index, or WordNet's number and label. The
output is one JSON object: pictures, skipped, top1, top5, and the five best classes of each file.
Exit status 77: a module is missing (apt-get install python3-torch python3-pil).
"""

import json
import os
import re
import sys

try:
    import numpy as np
    import torch
    from PIL import Image, ImageOps
except ImportError as error:
    print(f"/usr/bin/python3: {error}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models"))
sys.dont_write_bytecode = True
import preprocess


def load(path):
    torch.backends.quantized.engine = "qnnpack"
    torch.set_num_threads(1)
    extra = {"metadata.json": "", "labels.txt": ""}
    model = torch.jit.load(path, _extra_files=extra).eval()
    texts = {key: v.decode() if isinstance(v, bytes) else v for key, v in extra.items()}
    return model, json.loads(texts["metadata.json"])["input"], texts["labels.txt"].splitlines()


def class_of(folder, labels):
    if folder in labels:
        return labels.index(folder)
    if folder.isdigit():
        return int(folder)
    return labels.index(re.sub(r"^n\d{8}_", "", folder).replace("_", " "))


def best_five(model, spec, path):
    with Image.open(path) as file:
        picture = ImageOps.exif_transpose(file).convert("RGB")
    size = (spec["width"], spec["height"])
    image = preprocess.preprocess(picture, size, spec["resize"], spec["mean"], spec["std"])
    with torch.inference_mode():
        logits = model(torch.from_numpy(image)[None].permute(0, 3, 1, 2))
    return np.argsort(-logits.numpy()[0], kind="stable")[:5].tolist()


def main(archive, folder):
    model, spec, labels = load(archive)
    results, skipped = {}, 0
    for name in sorted(entry.name for entry in os.scandir(folder) if entry.is_dir()):
        expected = class_of(name, labels)
        for file in sorted(os.listdir(os.path.join(folder, name))):
            path = os.path.join(folder, name, file)
            try:
                results[path] = (expected, best_five(model, spec, path))
            except OSError:
                skipped += 1
    counts = {
        "pictures": len(results),
        "skipped": skipped,
        "top1": sum(expected == best[0] for expected, best in results.values()),
        "top5": sum(expected in best for expected, best in results.values()),
        "results": {path: best for path, (_, best) in results.items()},
    }
    print(json.dumps(counts))


main(*sys.argv[1:])
