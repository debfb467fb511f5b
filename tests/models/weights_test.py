"""Tests of the weights that the export tool takes: from files, and from torchvision's hub."""

import functools
import http.server
import os
import socket
import threading
import unittest
from unittest import mock

from testing import ARCH, CLASSES, MODELS, SIZE, TemporaryFolder, random_state_dict, run_export

import numpy as np
import torch
import torchvision

import archive
import export
import failure
import networks
import weights


class WeightsFileTest(TemporaryFolder):
    def export(self, path, *arguments, labels=True):
        return run_export(
            *("--arch", ARCH, "--weights", path, "--activations", "quint8", "--size", SIZE),
            *("-o", self.out, *arguments),
            *(("--labels", self.write_labels()) if labels else ()),
        )

    def assert_exported(self, result):
        self.assertEqual(result[0], 0, result[2])
        _, metadata, labels = archive.load(self.out)
        self.assertTrue(metadata["trained"])
        self.assertEqual(len(labels), CLASSES)
        return metadata

    def test_state_dict(self):
        path = self.write_weights()
        metadata = self.assert_exported(self.export(path))
        self.assertEqual(metadata["weights"], f"weights.pth sha256 {archive.sha256(path)}")

    def test_checkpoint_of_a_training_script(self):
        state = {f"module.{key}": value for key, value in random_state_dict().items()}
        self.assert_exported(self.export(self.write_weights({"model": state, "epoch": 3})))

    def test_whole_pickled_model(self):
        torch.save(torchvision.models.get_model(ARCH, num_classes=CLASSES), self.path("whole.pth"))
        result = self.export(self.path("whole.pth"))
        self.assert_sentence(result, 65, "whole model", "torch.save(model.state_dict(), FILE)")

    def test_torchscript(self):
        model = torchvision.models.get_model(ARCH, num_classes=CLASSES).eval()
        model.load_state_dict(random_state_dict())
        torch.jit.script(model).save(self.path("float.pt"))
        self.assert_exported(self.export(self.path("float.pt")))

    def test_torchscript_that_computes_something_else(self):
        class Negated(torch.nn.Module):
            def __init__(self, model):
                super().__init__()
                self.model = model

            def forward(self, x):
                return -self.model(x)

        model = torchvision.models.get_model(ARCH, num_classes=CLASSES).eval()
        loaded = weights.Weights(model.state_dict(), "", scripted=torch.jit.script(Negated(model)))
        with self.assertRaisesRegex(failure.Failure, "something else"):
            weights.is_rotated(model, loaded, SIZE)
        loaded.scripted = torch.jit.script(networks.Rotated(model))
        self.assertTrue(weights.is_rotated(model, loaded, SIZE))

    def test_quantized_archive(self):
        path = os.path.join(MODELS, "selftest.pt")
        self.assert_sentence(self.export(path), 65, path, "quantized archive", "state dict")

    def test_folded_batch_norms(self):
        # A batch norm that only adds, and a bias that does the same.
        model = torchvision.models.mobilenet_v2(width_mult=0.1, num_classes=2).eval()
        folded = {}
        for convolution, norm, _ in weights.norm_after_each_convolution(model):
            folded[f"{convolution}.weight"] = model.get_parameter(f"{convolution}.weight")
            folded[f"{convolution}.bias"] = torch.randn_like(model.get_parameter(f"{norm}.bias"))
        for name in ("classifier.1.weight", "classifier.1.bias"):
            folded[name] = model.get_parameter(name)
        model.load_state_dict(weights.unfold(model, folded))
        layer = model.features[0]
        inputs = torch.randn(1, 3, 32, 32)
        expected = layer[0](inputs) + folded["features.0.0.bias"][:, None, None]
        with torch.no_grad():
            np.testing.assert_allclose(layer[1](layer[0](inputs)), expected.detach(), atol=1e-4)

    def test_wrong_label_count(self):
        result = self.export(self.write_weights(), "--labels", self.write_labels(3), labels=False)
        self.assert_sentence(result, 65, "5 classes", "3 labels")

    def test_own_class_count_needs_labels(self):
        result = self.export(self.write_weights(), labels=False)
        self.assert_sentence(result, 65, "5 classes", "--labels")

    def test_bad_label_files(self):
        path = self.write_weights()
        for labels, status in (
            (self.path("no.txt"), 66),
            (self.write("empty.txt", "a\n\nb\n"), 65),
        ):
            self.assert_sentence(
                self.export(path, "--labels", labels, labels=False), status, labels
            )

    def test_files_that_are_no_weights(self):
        self.assert_sentence(self.export(self.path("no.pth")), 66, "no.pth")
        self.assert_sentence(self.export(self.write("text.pth", "hello")), 65, "text.pth")
        self.assert_sentence(self.export(self.write("empty.pth", "")), 65, "empty.pth")
        self.assert_sentence(self.export(self.write_weights([1, 2])), 65, "no state dict")
        with open(self.write_weights(), "r+b") as file:
            file.truncate(os.path.getsize(file.name) // 2)
        self.assert_sentence(self.export(self.path("weights.pth")), 65, "weights.pth")

    def test_weights_of_another_architecture(self):
        state = torchvision.models.resnet18(num_classes=CLASSES).state_dict()
        self.assert_sentence(self.export(self.write_weights(state)), 65, f"torchvision's {ARCH}")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class HubTest(TemporaryFolder):
    """A server on the loopback interface stands in for download.pytorch.org."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path("www"))
        handler = functools.partial(QuietHandler, directory=self.path("www"))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        environment = {"TORCH_HOME": self.path("cache"), "no_proxy": "127.0.0.1"}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)

    def publish(self, name=None, arch=ARCH):
        """Serves a state dict as the published one. Returns its pretended URL and its sha256."""
        made = self.write_weights(random_state_dict(1000, arch))
        digest = archive.sha256(made)
        name = name or f"net-{digest[:8]}.pth"
        os.rename(made, self.path(f"www/{name}"))
        url = f"https://download.pytorch.org/models/{name}"
        patch = mock.patch.object(weights, "published_url", return_value=url)
        patch.start()
        self.addCleanup(patch.stop)
        return url, digest

    def export(self, base_url=None):
        base_url = base_url or f"http://127.0.0.1:{self.port}/"
        return run_export(
            *("--arch", ARCH, "--base-url", base_url, "--activations", "quint8", "--size", SIZE),
            *("-o", self.out),
        )

    def test_fetched_once_and_described(self):
        url, digest = self.publish()
        for base_url in (None, "http://127.0.0.1:1"):  # the second time from the cache
            status, _, err = self.export(base_url)
            self.assertEqual(status, 0, err)
        _, metadata, labels = archive.load(self.out)
        self.assertEqual(metadata["weights"], f"{url} sha256 {digest}")
        self.assertTrue(metadata["trained"])
        self.assertEqual((len(labels), labels[1]), (1000, "goldfish"))
        # WordNet's numbers, which PyTorch's tutorial on Flask calls class ids.
        ids = archive.extra(self.out, "class_ids.txt").split()
        self.assertEqual((len(ids), ids[1], ids[281]), (1000, "n01443537", "n02123045"))

    def test_without_arguments(self):
        """MobileNetV2 with the published weights, in the current folder; what is there stays."""
        self.publish(arch="mobilenet_v2")
        name = os.path.basename(weights.published_url("mobilenet_v2"))
        url = f"http://127.0.0.1:{self.port}/{name}"
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        with mock.patch.object(weights, "published_url", return_value=url):
            with mock.patch.object(export, "DRAWN_CALIBRATION", 4):
                status, out, err = run_export()
            self.assertEqual(status, 0, err)
            self.assertIn("mobilenet_v2.pt: mobilenet_v2, qint8, 1000 labels", out)
            written = archive.sha256("mobilenet_v2.pt")
            status, _, err = run_export()
        self.assertEqual((status, archive.sha256("mobilenet_v2.pt")), (73, written))
        self.assertIn("mobilenet_v2.pt is there already", err)

    def test_file_url(self):
        self.publish()
        status, _, err = self.export(f"file://{self.path('www')}")
        self.assertEqual(status, 0, err)

    def test_wrong_hash(self):
        self.publish("net-0123abcd.pth")
        self.assert_sentence(self.export(), 65, "net-0123abcd.pth", "sha256")
        self.assertEqual(os.listdir(self.path("cache/hub/checkpoints")), [])

    def test_damaged_cache(self):
        url, _ = self.publish()
        os.makedirs(self.path("cache/hub/checkpoints"))
        self.write(f"cache/hub/checkpoints/{os.path.basename(url)}", "half")
        self.assert_sentence(self.export(), 65, "not the published file", "delete it")

    def test_not_found(self):
        self.assert_sentence(self.export(), 66, "shufflenetv2_x0.5", "not found", "--weights FILE")

    def test_refused(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound but not listening
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
            self.assert_sentence(self.export(url), 66, url, "refused", "--weights FILE")

    def test_no_url(self):
        self.assert_sentence(self.export("nonsense"), 66, "nonsense", "--weights FILE")

    def test_published_names_carry_a_hash(self):
        for arch in networks.ARCHES:
            self.assertIsNotNone(weights.hash_prefix(weights.published_url(arch)), arch)
            self.assertEqual(len(weights.categories(arch)), 1000)
        self.assertEqual(weights.hash_prefix("https://x/resnet18-f37072fd.pth"), "f37072fd")
        self.assertIsNone(weights.hash_prefix("https://x/resnet18.pth"))
