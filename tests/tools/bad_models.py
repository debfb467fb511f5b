"""Writes archives that name the color of a picture, and go wrong at some colors.

usage: bad_models.py FOLDER

good.pt: red, green or blue. hangs.pt: does not return from a green picture. greedy.pt: takes all memory
for a blue one. crashes.pt: ends the process at a green picture, by a signal as abort() does. All four have the
same labels. A fast machine shows them these colors when it loads them; a guest has time for two other images.
"""

import json
import os
import sys
from typing import List

import torch


class Good(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(9 * x.mean([2, 3]), 1)


class Hangs(torch.nn.Module):
    def forward(self, x):
        scores = torch.softmax(9 * x.mean([2, 3]), 1)
        while float(scores[0, 1]) > 0.9:
            scores = scores * 1
        return scores


class Greedy(torch.nn.Module):
    def forward(self, x):
        scores = torch.softmax(9 * x.mean([2, 3]), 1)
        taken: List[torch.Tensor] = []
        while float(scores[0, 2]) > 0.9:
            taken.append(torch.ones([4000000]))
        return scores


class Crashes(torch.nn.Module):
    def forward(self, x):
        scores = torch.softmax(9 * x.mean([2, 3]), 1)
        if float(scores[0, 1]) > 0.9:
            # Not checked as asked for, so that it reads on until no memory is mapped (SIGSEGV). Errors that
            # LibTorch notices are exceptions: no operator is known that calls abort().
            lengths = torch.full([1], 1 << 50, dtype=torch.int64)
            scores = scores + torch.segment_reduce(scores[0], "sum", lengths=lengths, unsafe=True)
        return scores


for network in (Good, Hangs, Greedy, Crashes):
    name = network.__name__.lower()
    metadata = {
        "name": name,
        "input": {
            "width": 8,
            "height": 8,
            "mean": [0, 0, 0],
            "std": [1, 1, 1],
            "channel_order": "RGB",
            "resize": "stretch",
        },
        "output": "probabilities",
        "quantization": "none",
        "producer": {"torch": torch.__version__},
        "weights": "none",
        "trained": True,
    }
    files = {"metadata.json": json.dumps(metadata), "labels.txt": "red\ngreen\nblue\n"}
    scripted = torch.jit.script(network().eval())
    torch.jit.save(scripted, os.path.join(sys.argv[1], f"{name}.pt"), files)
