"""Writes an archive that loads but cannot run under QNNPACK: made for another quantized engine.

usage: foreign_archive.py OUT.pt

Its fully connected layer has weights quantized per channel and qint8 activations, which engines for
x86 take and XNNPACK's kernels refuse.
"""

import json
import sys

import torch
from torch.ao import quantization

SIDE, CLASSES = 8, 3


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.quant = quantization.QuantStub()
        self.fc = torch.nn.Linear(3 * SIDE * SIDE, CLASSES)
        self.dequant = quantization.DeQuantStub()

    def forward(self, x):
        return self.dequant(self.fc(self.quant(x).flatten(1)))


torch.backends.quantized.engine = "qnnpack"  # packs the weights; it is forward that fails
net = Net().eval()
net.qconfig = quantization.QConfig(
    activation=quantization.MinMaxObserver.with_args(
        dtype=torch.qint8, qscheme=torch.per_tensor_symmetric
    ),
    weight=quantization.PerChannelMinMaxObserver.with_args(
        dtype=torch.qint8, qscheme=torch.per_channel_symmetric
    ),
)
prepared = quantization.prepare(net)
prepared(torch.randn(1, 3, SIDE, SIDE))
metadata = {
    "name": "foreign",
    "input": {
        "width": SIDE,
        "height": SIDE,
        "mean": [0, 0, 0],
        "std": [1, 1, 1],
        "channel_order": "RGB",
    },
    "quantization": "qint8 activations, weights per channel",
    "producer": {"torch": torch.__version__},
    "weights": "random",
    "trained": False,
}
torch.jit.save(
    torch.jit.script(quantization.convert(prepared)),
    sys.argv[1],
    {"metadata.json": json.dumps(metadata), "labels.txt": "a\nb\nc\n"},
)
