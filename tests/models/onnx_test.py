"""Tests of the ONNX models that the tools write. run.py gives them the packages that they need."""

import errno
import json
import os
import subprocess
import sys
from unittest import mock

import operators_test
from testing import (
    ARCH,
    CLASSES,
    MODELS,
    SIZE,
    TemporaryFolder,
    run_export,
    run_tool,
    run_train,
    state_dict_that_sees,
)

import numpy as np
import onnx
import onnxruntime
import torch

import archive
import augment
import export
import networks
import super_resolution
from onnx_format import convert, model

COUNT = 20  # pictures


class OnnxFolder(TemporaryFolder):
    def setUp(self):
        super().setUp()
        self.out = self.path("model.onnx")

    def export(self, *more, weights=None):
        weights = weights or self.write_weights(state_dict_that_sees())
        return run_export(
            *("--format", "onnx", "--arch", ARCH, "--size", SIZE, "--weights", weights),
            *("--labels", self.write_labels(), "-o", self.out, *more),
        )


class OnnxTest(OnnxFolder):
    def assert_exported(self, result):
        status, out, err = result
        self.assertEqual(status, 0, err)
        self.assertLessEqual({"do not trust" in line for line in err.splitlines()}, {True}, err)
        self.assertRegex(out, r"against PyTorch on 32 inputs, in batches of 1, 2, 16: largest")
        return model.load(self.out)

    def calibrated(self, *more, **options):
        return self.assert_exported(
            self.export("--calibration", self.write_pictures(COUNT), *more, **options)
        )

    def drawn_inputs(self, count=3):
        return torch.stack([augment.to_tensor(augment.sample(9, i, SIZE)[0]) for i in range(count)])

    def properties(self):
        return {entry.key: entry.value for entry in onnx.load(self.out).metadata_props}

    def network(self):
        network = networks.float_model(ARCH, CLASSES)
        network.load_state_dict(state_dict_that_sees())
        return network

    def test_float_model_computes_what_pytorch_does(self):
        loaded, network = self.calibrated("--activations", "float32"), self.network()
        for batch in (1, 5):
            inputs = torch.randn(batch, 3, SIZE, SIZE)
            logits, features = loaded.outputs(inputs)
            with torch.no_grad():
                torch.testing.assert_close(logits, network(inputs), rtol=1e-3, atol=1e-5)
                torch.testing.assert_close(
                    networks.head_of(network)(features), logits, rtol=1e-3, atol=1e-5
                )
        self.assertEqual(json.loads(self.properties()["lookout.metadata"])["quantization"], "none")

    def test_quantized_model(self):
        loaded = self.calibrated()
        proto = loaded.proto
        shapes = {
            value.name: [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]
            for value in (*proto.graph.input, *proto.graph.output)
        }
        self.assertEqual(
            shapes,
            {
                "input": ["batch", 3, SIZE, SIZE],
                "logits": ["batch", CLASSES],
                "features": ["batch", 1024],
            },
        )
        network, inputs = self.network(), self.drawn_inputs()
        logits, features = loaded.outputs(inputs)
        with torch.no_grad():
            expected = network(inputs)
            by_head = networks.head_of(network)(features)
        # Random weights are sensitive: the TorchScript archives are as far off.
        self.assertLess((logits - expected).abs().mean(), 0.6 * expected.std())
        self.assertLess((logits - by_head).abs().mean(), 0.1 * expected.std())
        torch.testing.assert_close(loaded(inputs[:1]), logits[:1])

    def test_everything_is_signed_and_per_channel(self):
        graph = self.calibrated().proto.graph
        constants = {value.name: onnx.numpy_helper.to_array(value) for value in graph.initializer}
        made = {output: node for node in graph.node for output in node.output}
        for node in graph.node:
            if node.op_type == "QuantizeLinear":
                self.assertEqual(constants[node.input[2]].dtype, np.int8)
            elif node.op_type in ("Conv", "Gemm"):
                inputs = [made[name] for name in node.input]
                self.assertEqual([made.op_type for made in inputs], ["DequantizeLinear"] * 3)
                weights, scales, zeros = (constants[name] for name in inputs[1].input)
                self.assertEqual((weights.dtype, scales.shape), (np.int8, weights.shape[:1]))
                self.assertFalse(zeros.any())

    def test_nothing_is_left_over(self):
        proto = self.calibrated().proto
        used = {name for node in proto.graph.node for name in node.input}
        self.assertLessEqual({value.name for value in proto.graph.initializer}, used)
        self.assertNotIn("Constant", {node.op_type for node in proto.graph.node})
        self.assertEqual([opset.domain for opset in proto.opset_import], [""])

    def test_metadata(self):
        ids = self.write("ids.txt", "".join(f"id{i}\n" for i in range(CLASSES)))
        self.calibrated("--class-ids", ids, "--name", "door", "--resize", "stretch")
        properties = self.properties()
        metadata = json.loads(properties.pop("lookout.metadata"))
        self.assertEqual(
            properties,
            {
                "lookout.labels": "".join(f"label {i}\n" for i in range(CLASSES)),
                "lookout.class_ids": "".join(f"id{i}\n" for i in range(CLASSES)),
            },
        )
        self.assertEqual((metadata["name"], metadata["trained"]), ("door", True))
        self.assertEqual(metadata["input"]["resize"], "stretch")
        self.assertEqual(metadata["output"], "logits")
        self.assertEqual(metadata["producer"]["onnxruntime"], onnxruntime.__version__)
        self.assertIn("qint8 activations, qint8 weights (per channel)", metadata["quantization"])
        self.assertNotIn(MODELS.encode(), onnx.load(self.out).SerializeToString())

    def test_repeatable(self):
        digests = []
        for _ in range(2):
            self.assertEqual(self.export()[0], 0)
            digests.append(archive.sha256(self.out))
        self.assertEqual(*digests)

    def test_float_archive_that_rotates_its_input(self):
        network = self.network()
        turned = lambda x: network._forward_impl(x.flip(2, 3))
        with mock.patch.object(type(network), "forward", lambda _, x: turned(x)):
            torch.jit.trace(network, torch.zeros(1, 3, SIZE, SIZE)).save(self.path("float.pt"))
        loaded = self.calibrated("--activations", "float32", weights=self.path("float.pt"))
        inputs = torch.randn(2, 3, SIZE, SIZE)
        with torch.no_grad():
            torch.testing.assert_close(loaded(inputs.flip(2, 3)), network(inputs), rtol=1e-3, atol=1e-5)

    def test_other_kinds_of_networks(self):
        for arch in ("mobilenet_v2", "googlenet"):
            with self.subTest(arch):
                status, out, err = run_export(
                    *("--format", "onnx", "--arch", arch, "--no-weights", "--size", SIZE),
                    *("--labels", self.write_labels(), "-o", self.out),
                )
                self.assertEqual(status, 0, err)
                self.assertEqual(len(err.splitlines()), 1, err)  # about the drawn pictures
                self.assertEqual(model.load(self.out)(torch.zeros(2, 3, SIZE, SIZE)).shape, (2, CLASSES))

    def test_training(self):
        base = self.write_weights(state_dict_that_sees())
        status, out, err = run_train(
            *(self.write_classes(), "-o", self.out, "--format", "onnx", "--weights", base)
        )
        self.assertEqual(status, 0, err)
        self.assertIn("held out: 2 of 2 pictures right", out)
        self.assertIn("against PyTorch", out)
        self.assertEqual(json.loads(self.properties()["lookout.producer_info"])["pictures"], 12)
        self.assertEqual(model.load(self.out)(torch.zeros(1, 3, SIZE, SIZE)).shape, (1, 2))

    def test_name_of_the_file(self):
        options = export.make_parser().parse_args(["--format", "onnx"])
        self.assertEqual(export.complete(options).output, "mobilenet_v2.onnx")


class OperatorsTest(OnnxFolder):
    def test_the_scores_are_those_of_pytorch(self):
        selftest = os.path.join(MODELS, "onnx_format", "selftest.onnx")
        library = operators_test.library("onnx")
        status, out, err = run_tool(
            operators_test.export_with_operator,
            *(selftest, "--operators", library, "--temperature", operators_test.TEMPERATURE),
            *("--threshold", operators_test.THRESHOLD, "-o", self.out),
        )
        self.assertEqual((status, err), (0, ""))
        self.assertIn("16 labels and unknown", out)
        options = model.session_options()
        options.register_custom_ops_library(library)
        session = model.open_session(onnx.load(self.out), options)
        inputs = torch.randn(2, 3, 224, 224)
        scores = session.run(["scores"], {"input": inputs.numpy()})[0]
        expected = operators_test.expected(model.load(selftest)(inputs))
        np.testing.assert_allclose(scores, expected.numpy(), rtol=1e-3, atol=1e-5)


class RefusalTest(OnnxFolder):
    def assert_refused(self, result, status, *parts):
        self.assert_sentence(result, status, *parts)
        self.assertFalse([name for name in os.listdir(self.folder) if "onnx" in name])

    def test_quint8(self):
        self.assert_refused(self.export("--activations", "quint8"), 64, "quint8", "qint8 or float32")

    def test_quantized_archive(self):
        result = self.export(weights=os.path.join(MODELS, "selftest.pt"))
        self.assert_refused(result, 65, "selftest.pt", "quantized archive", "float TorchScript")

    def test_missing_packages(self):
        with mock.patch.dict(sys.modules, {"onnxruntime": None}):
            result = self.export()
        self.assert_refused(result, 66, "onnxruntime", "-m venv", "requirements.txt")

    def test_model_that_computes_something_else(self):
        pictures = self.write_pictures(1)
        with mock.patch.object(convert, "allowed", return_value=0):
            result = self.export("--calibration", pictures)
        self.assert_refused(result, 65, "other logits than PyTorch with batches of 1")

    def test_nan_is_no_agreement(self):
        network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2))
        inputs = torch.zeros(2, 1, 2, 2)
        with torch.no_grad():
            pair = network(inputs), inputs.flatten(1)
        broken = mock.Mock()
        broken.outputs = lambda batch: (torch.full((len(batch), 2), torch.nan), batch.flatten(1))
        with self.assertRaisesRegex(Exception, "other logits"):
            convert.check(lambda _: pair, broken, inputs)

    def test_network_that_cannot_be_exported(self):
        with mock.patch.object(torch.onnx, "export", side_effect=RuntimeError("no such operator")):
            result = self.export("--calibration", self.write_pictures(1))
        self.assert_refused(result, 65, ARCH, "no such operator")

    def test_full_disk(self):
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch.object(archive, "write_bytes", side_effect=full):
            result = self.export("--calibration", self.write_pictures(1))
        self.assert_refused(result, 73, f"cannot write {self.out}: No space left on device")


class EngineTest(OnnxFolder):
    """lookout's engine against PyTorch: tests/pipeline/onnx/onnx_parity_test.cpp."""

    PROGRAM = os.path.join(MODELS, "../build/host/tests/onnx_tests")

    def assert_parity(self):
        if not os.path.exists(self.PROGRAM):
            self.skipTest("the host's tests are not built")
        ran = subprocess.run(
            [self.PROGRAM, "--gtest_filter=OnnxParity.*"],
            env={**os.environ, "LOOKOUT_PARITY": self.folder},
            **{"capture_output": True, "text": True, "check": False},
        )
        self.assertEqual(ran.returncode, 0, ran.stdout)
        self.assertIn("[  PASSED  ] 1 test.", ran.stdout)

    def test_float_classifier(self):
        status, _, err = self.export("--activations", "float32")
        self.assertEqual(status, 0, err)
        network = networks.float_model(ARCH, CLASSES)
        network.load_state_dict(state_dict_that_sees())
        for batch in (1, 2, 16):
            inputs = torch.randn(batch, 3, SIZE, SIZE)
            with torch.inference_mode():
                outputs = network(inputs)
            super_resolution.write_pair(self.folder, batch, inputs, outputs)
        self.assert_parity()

    def test_super_resolution(self):
        super_resolution.write(self.folder)
        os.rename(self.path("super_resolution.onnx"), self.out)
        self.assert_parity()


class SuperResolutionTest(TemporaryFolder):
    def test_outputs_are_those_of_pytorch(self):
        super_resolution.write(self.folder)
        session = model.open_session(onnx.load(self.path("super_resolution.onnx")))
        for batch in super_resolution.BATCHES:
            inputs, outputs = (
                np.fromfile(self.path(f"{name}_{batch}.f32"), "<f4").reshape(batch, 1, size, size)
                for name, size in (("input", 224), ("output", 672))
            )
            got = session.run(None, {"input": inputs})[0]
            np.testing.assert_allclose(got, outputs, rtol=1e-3, atol=1e-5)
