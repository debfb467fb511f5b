"""Prints a model's logits as raw floats, for comparison with the C++ classifier.

usage: logits.py ARCHIVE HEIGHT WIDTH < image (float32, channels last)
"""

import sys

import numpy
import torch

archive, height, width = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.backends.quantized.engine = "qnnpack"
torch.set_num_threads(1)
model = torch.jit.load(archive).eval()
image = numpy.frombuffer(sys.stdin.buffer.read(), numpy.float32).reshape(1, height, width, 3)
with torch.inference_mode():
    logits = model(torch.from_numpy(image.copy()).permute(0, 3, 1, 2))
sys.stdout.buffer.write(logits.numpy().tobytes())
