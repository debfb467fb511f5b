#!/usr/bin/python3
"""A reference: one loop that captures, preprocesses and classifies in turn, in Python.

As in PyTorch's tutorial for the Raspberry Pi: a frame by OpenCV, BGR to RGB, ToTensor, Normalize,
the scripted model on the QNNPACK engine, softmax, the best ten. With frames of 224x224, as the
tutorial asks its camera for, nothing is scaled; of others the centre square is. The ten are found
by `topk`, which is faster than the tutorial's sorting in Python.

Needs (Debian 12): python3-numpy python3-opencv python3-torch python3-torchvision
"""

import peer
import torch
from torchvision import transforms


def load(archive, threads):
    torch.set_num_threads(threads)
    torch.backends.quantized.engine = "qnnpack"
    net = torch.jit.load(archive)
    preprocess = transforms.Compose(
        [
            transforms.ToTensor(),
            transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
        ]
    )

    def classify(image):
        image = peer.model_sized(image)[:, :, [2, 1, 0]]
        with torch.no_grad():
            output = net(preprocess(image).unsqueeze(0))
            best = output[0].softmax(dim=0).topk(10)
        return list(zip(best.indices.tolist(), best.values.tolist()))

    return classify


if __name__ == "__main__":
    peer.main(__doc__, load)
