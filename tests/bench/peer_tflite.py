#!/usr/bin/python3
"""A peer: the same loop on LiteRT (TensorFlow Lite), whose CPU kernels are XNNPACK's.

The model is a quantized .tflite of an image classifier whose input stands for values from -1 to 1,
as that of TensorFlow's MobileNetV2: bytes are its input as they are.

Needs ai-edge-litert (PyPI), and (Debian 12) python3-numpy python3-opencv. compare.py makes an
environment that has both.
"""

import cv2
import numpy as np
import peer
from ai_edge_litert.interpreter import Interpreter


def load(archive, threads):
    net = Interpreter(model_path=archive, num_threads=threads)
    net.allocate_tensors()
    taken, given = net.get_input_details()[0], net.get_output_details()[0]
    if taken["dtype"] not in (np.uint8, np.int8) or given["dtype"] not in (np.uint8, np.int8):
        raise SystemExit(f"{archive} does not take and give bytes: {taken['dtype']}")
    offset = 0 if taken["dtype"] == np.uint8 else 128
    scale, zero_point = given["quantization"]

    def classify(image):
        rgb = cv2.cvtColor(peer.model_sized(image), cv2.COLOR_BGR2RGB)
        if offset:
            rgb = (rgb ^ 128).view(np.int8)
        net.set_tensor(taken["index"], rgb[None])
        net.invoke()
        scores = (net.get_tensor(given["index"])[0].astype(np.float32) - zero_point) * scale
        best = np.argpartition(scores, -10)[-10:]
        best = best[np.argsort(-scores[best])]
        return list(zip(best.tolist(), scores[best].tolist()))

    return classify


if __name__ == "__main__":
    peer.main(__doc__, load)
