"""Post-training quantization of ONNX models: signed 8-bit activations and weights, per channel.

Of ONNX Runtime's ways this is the fastest one on a Raspberry Pi 4 that keeps the float model's
accuracy. Per tensor, most of it is lost. Unsigned activations are as accurate and slower there.

Needs (PyPI): onnx onnxruntime
"""

import os
import tempfile

import onnx
from onnxruntime import quantization
from onnxruntime.quantization.quant_utils import add_pre_process_metadata

import quantize
from onnx_format.model import INPUT, simplified


def description(activations):
    """The text of metadata.json's "quantization"."""
    if activations == quantize.FLOAT:
        return "none"
    return (
        f"{activations} activations, qint8 weights (per channel); post-training, QuantizeLinear and "
        "DequantizeLinear nodes"
    )


class Batches(quantization.CalibrationDataReader):
    def __init__(self, batches):
        self.batches = iter(batches)

    def get_next(self):
        batch = next(self.batches, None)
        return None if batch is None else {INPUT: batch.numpy()}


def quantized(proto, batches):
    """The quantized form of a float model; `batches` are pictures for the calibration."""
    proto = simplified(proto)
    add_pre_process_metadata(proto)  # otherwise quantize_static asks for it
    with tempfile.TemporaryDirectory() as folder:
        source, target = (os.path.join(folder, name) for name in ("float.onnx", "quantized.onnx"))
        onnx.save(proto, source)
        quantization.quantize_static(
            source,
            target,
            Batches(batches),
            quant_format=quantization.QuantFormat.QDQ,
            calibrate_method=quantization.CalibrationMethod.MinMax,
            activation_type=quantization.QuantType.QInt8,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            extra_options={
                # The mean of each batch's minimum and maximum: outliers would make the steps coarse.
                "CalibMovingAverage": True,
                # The logits stay floats: rounded, the best two are the same too often.
                "OpTypesToExcludeOutputQuantization": ["Gemm"],
            },
        )
        return onnx.load(target)
