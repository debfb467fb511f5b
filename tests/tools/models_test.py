#!/usr/bin/python3
"""Tests of models/: patterns, preprocessing, the self-test model, and the export tool.

    /usr/bin/python3 tests/tools/models_test.py

Needs (Debian 12): python3-torch python3-torchvision python3-pil python3-numpy libopenblas0
Where they are missing the tests are skipped (exit status 77).
"""

import contextlib
import functools
import http.server
import io
import os
import shutil
import socket
import sys
import tempfile
import threading
import unittest
from unittest import mock

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = os.path.join(os.path.dirname(TESTS), "models")
sys.path.insert(0, MODELS)
sys.dont_write_bytecode = True
# Before torch is imported: with the default, waiting threads take the cores from other processes.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

try:
    import numpy as np
    import torch
    import torchvision
    from PIL import Image
except ImportError as error:
    if __name__ == "__main__":
        print(f"skipped: {error}")
        sys.exit(77)
    raise unittest.SkipTest(str(error))

import archive
import augment
import export
import patterns
import preprocess
import quantize
import train_selftest
import weights

# A small architecture and input, and few pictures: most tests are not about these.
ARCH, SIZE = "shufflenet_v2_x0_5", 64
CLASSES = 5


def run_export(*arguments):
    """(exit status, stdout, stderr)"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = export.main([str(argument) for argument in arguments])
    return status, out.getvalue(), err.getvalue()


@functools.lru_cache(maxsize=None)
def random_state_dict(classes=CLASSES):
    torch.manual_seed(7)
    return torchvision.models.get_model(ARCH, num_classes=classes).state_dict()


class TemporaryFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.out = self.path("model.pt")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def write_labels(self, count=CLASSES):
        return self.write("labels.txt", "".join(f"label {i}\n" for i in range(count)))

    def write_weights(self, state=None, name="weights.pth"):
        torch.save(random_state_dict() if state is None else state, self.path(name))
        return self.path(name)

    def write_pictures(self, count=4):
        os.makedirs(self.path("pictures"))
        for i in range(count):
            pixels, _ = augment.sample(9, i, 80)
            Image.fromarray(pixels).save(self.path(f"pictures/{i}.png"))
        return self.path("pictures")

    def assert_sentence(self, result, status, *parts):
        """The export ended with `status` and one line that holds all `parts`, and wrote nothing."""
        got, _, err = result
        self.assertEqual(got, status, err)
        self.assertEqual(len(err.splitlines()), 1, err)
        for part in parts:
            self.assertIn(part, err)
        self.assertFalse(os.path.exists(self.out))


class PatternsTest(unittest.TestCase):
    def test_checksums_are_those_of_the_stored_file(self):
        with open(os.path.join(TESTS, "data", "pattern_checksums.txt"), encoding="ascii") as file:
            self.assertEqual(file.read().splitlines(), list(patterns.checksum_lines()))

    def test_pixels_by_hand(self):
        bars = patterns.draw("colorbars", 640, 480)
        self.assertEqual(bars[0, 0].tolist(), [191, 191, 191])
        self.assertEqual(bars[0, 80].tolist(), [191, 191, 0])
        self.assertEqual(bars[479, 639].tolist(), [0, 0, 0])
        self.assertEqual(patterns.draw("ramp", 320, 180)[5, 319].tolist(), [255, 255, 255])
        self.assertEqual(patterns.draw("cross", 224, 224)[0, 108].tolist(), [255, 255, 255])
        self.assertEqual(patterns.draw("cross", 224, 224)[0, 107].tolist(), [0, 0, 0])
        self.assertEqual(patterns.draw("colorcheckers", 224, 224)[0, 4].tolist(), [255, 0, 0])

    def test_noise_is_gray(self):
        noise = patterns.draw("noise", 64, 48, np.random.default_rng(1))
        self.assertTrue((noise == noise[..., :1]).all())

    def test_marker_inverts_top_bits(self):
        frame = patterns.draw("black", 320, 180)
        patterns.draw_marker(frame, 10, 100)
        self.assertEqual(int((frame == 0x80).all(axis=2).sum()), 11 * 11)


class AugmentTest(unittest.TestCase):
    def test_pictures_of_odd_sides_keep_them(self):
        for index in range(16):
            pixels, _ = augment.sample(3, index, 33)
            self.assertEqual(pixels.shape, (33, 33, 3))
            rng = np.random.default_rng(index)
            self.assertEqual(augment.through_yuyv(rng, pixels).shape, (33, 33, 3))


class PreprocessTest(unittest.TestCase):
    def test_reference_files_are_current(self):
        folder = os.path.join(TESTS, "data", "preprocess")
        expected = dict(preprocess.reference_arrays())
        self.assertEqual(sorted(os.listdir(folder)), sorted(expected))
        for name, array in expected.items():
            stored = np.fromfile(os.path.join(folder, name), "<f4").reshape(array.shape)
            np.testing.assert_allclose(stored, array, atol=1e-6, err_msg=name)

    def test_equals_torchvision(self):
        picture = preprocess.reference_picture(320, 180)
        transforms = torchvision.transforms
        expected = transforms.Compose(
            [
                transforms.CenterCrop(180),
                transforms.Resize((24, 24), transforms.InterpolationMode.BILINEAR),
                transforms.ToTensor(),
                transforms.Normalize(preprocess.IMAGENET_MEAN, preprocess.IMAGENET_STD),
            ]
        )(picture)
        got = preprocess.preprocess(picture, (24, 24), "center-square")
        np.testing.assert_allclose(got.transpose(2, 0, 1), expected.numpy(), atol=1e-5)

    def test_boxes(self):
        self.assertEqual(preprocess.center_crop_box((640, 480), (224, 224)), (80, 0, 480, 480))
        self.assertEqual(preprocess.center_crop_box((100, 150), (32, 24)), (0, 37, 100, 75))
        self.assertEqual(preprocess.letterbox_box((320, 180), (32, 24)), (0, 3, 32, 18))
        self.assertEqual(preprocess.letterbox_box((10000, 2), (32, 24)), (0, 11, 32, 1))

    def test_letterbox_border_is_zero(self):
        result = preprocess.preprocess(
            preprocess.reference_picture(320, 180), (32, 24), "letterbox"
        )
        self.assertFalse(result[:3].any() or result[-3:].any())
        self.assertTrue(result[3:-3].any(axis=(1, 2)).all())


class SelfTestModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(MODELS, "selftest.pt")
        cls.model, cls.metadata, cls.labels = archive.load(cls.path)

    def test_description(self):
        self.assertEqual(self.labels, list(patterns.LABELS))
        expected = train_selftest.metadata()
        for key in set(expected) - {"producer"}:
            self.assertEqual(self.metadata[key], expected[key])
        self.assertTrue(self.metadata["trained"])
        self.assertLess(os.path.getsize(self.path), 1_500_000)

    def test_report_is_about_this_archive(self):
        with open(os.path.join(MODELS, "selftest.md"), encoding="utf-8") as file:
            self.assertIn(archive.sha256(self.path), file.read())

    def test_every_pattern(self):
        with mock.patch.object(train_selftest, "CHECKED_SHIFTS", 3):
            ((right, frames, least),) = train_selftest.check_patterns((self.model,))
        self.assertEqual(right, frames)
        self.assertGreater(least, 0.5)
        self.assertGreater(train_selftest.least_at_rest(self.model), 0.8)

    def test_held_out_pictures(self):
        pictures = [augment.sample(11, i) for i in range(160)]
        inputs = torch.stack([augment.to_tensor(pixels) for pixels, _ in pictures])
        with torch.inference_mode():
            answers = self.model(inputs).argmax(1).tolist()
        right = sum(answer == label for answer, (_, label) in zip(answers, pictures))
        self.assertGreaterEqual(right, 152)


class ExportTest(TemporaryFolder):
    def test_mobilenet_v2_with_both_activations(self):
        labels = self.write_labels()
        for activations in quantize.ACTIVATIONS:
            with self.subTest(activations):
                status, out, err = run_export(
                    *("--arch", "mobilenet_v2", "--no-weights", "--activations", activations),
                    *("--size", SIZE, "--labels", labels, "--resize", "stretch", "-o", self.out),
                )
                self.assertEqual(status, 0, err)
                self.assertIn("without --calibration", err)
                self.assertIn("same top-1", out)
                model, metadata, stored = archive.load(self.out)
                self.assertEqual(model(torch.zeros(1, 3, SIZE, SIZE)).shape, (1, CLASSES))
                self.assertEqual(stored, [f"label {i}" for i in range(CLASSES)])
                self.check_metadata(metadata, activations)

    def check_metadata(self, metadata, activations):
        kernels = {"qint8": "XNNPACK", "quint8": "QNNPACK"}[activations]
        self.assertEqual(metadata["name"], "mobilenet_v2")
        self.assertEqual(
            metadata["input"],
            {
                "width": SIZE,
                "height": SIZE,
                "mean": [0.485, 0.456, 0.406],
                "std": [0.229, 0.224, 0.225],
                "channel_order": "RGB",
                "resize": "stretch",
            },
        )
        self.assertEqual(
            metadata["quantization"],
            f"{activations} ({kernels} kernels) activations, qint8 weights (convolutions per "
            "channel, classifier per tensor); post-training, qengine qnnpack",
        )
        self.assertEqual(set(metadata["producer"]), {"torch", "torchvision", "tool"})
        self.assertEqual(metadata["producer"]["tool"], "lookout models/export.py")
        self.assertEqual(metadata["weights"], "none")
        self.assertIs(metadata["trained"], False)

    def test_relu6_is_kept(self):
        model = torchvision.models.mobilenet_v2(width_mult=0.1, num_classes=2).eval()
        twin = torchvision.models.quantization.mobilenet_v2(width_mult=0.1, num_classes=2)
        for dtype in quantize.ACTIVATIONS:
            quantized = quantize.quantize(model, twin, [torch.randn(2, 3, 64, 64)], dtype)
            first = quantized.features[0][0]
            self.assertAlmostEqual(first.scale, 6 / 255, places=6)
            self.assertEqual(first.zero_point, torch.iinfo(getattr(torch, dtype)).min)
            self.assertEqual(first.weight().qscheme(), torch.per_channel_affine)
            self.assertEqual(quantized.classifier[1].weight().qscheme(), torch.per_tensor_affine)

    def test_repeatable(self):
        inputs = torch.randn(1, 3, SIZE, SIZE)
        results = []
        for _ in range(2):
            status, _, err = run_export(
                *("--arch", ARCH, "--no-weights", "--activations", "quint8", "--size", SIZE),
                *("--labels", self.write_labels(), "-o", self.out),
            )
            self.assertEqual(status, 0, err)
            model, metadata, _ = archive.load(self.out)
            results.append((model(inputs).tolist(), metadata))
        self.assertEqual(*results)

    def test_bad_arguments(self):
        base = ("--arch", ARCH, "--no-weights", "-o", self.out)
        for arguments, part in (
            (("--arch", "lenet", "-o", self.out), "lenet"),
            (("--arch", ARCH), "-o"),
            ((*base, "--weights", "x.pth"), "--weights"),
            ((*base, "--size", "big"), "big"),
            ((*base, "--size", "7"), "7"),
            ((*base, "--mean", "1,2"), "1,2"),
            ((*base, "--std", "1,0,1"), "1,0,1"),
            ((*base, "--activations", "float"), "float"),
            ((*base, "--resize", "fill"), "fill"),
            ((*base, "--colour"), "--colour"),
        ):
            with self.subTest(arguments):
                self.assert_sentence(run_export(*arguments), 64, part)

    def test_missing_output_folder(self):
        result = run_export("--arch", ARCH, "--no-weights", "-o", self.path("no/model.pt"))
        self.assert_sentence(result, 66, self.path("no"))


class CalibrationTest(TemporaryFolder):
    def export(self, *arguments):
        return run_export(
            *("--arch", ARCH, "--no-weights", "--activations", "quint8", "--size", SIZE),
            *("--labels", self.write_labels(), "-o", self.out, *arguments),
        )

    def test_missing_folder(self):
        result = self.export("--calibration", self.path("no"))
        self.assert_sentence(result, 66, "no calibration folder", self.path("no"))

    def test_folder_without_pictures(self):
        os.makedirs(self.path("empty"))
        result = self.export("--calibration", self.path("empty"))
        self.assert_sentence(result, 65, "no readable picture", self.path("empty"))

    def test_broken_pictures_are_named_and_skipped(self):
        folder = self.write_pictures()
        self.write("pictures/notes.txt", "not a picture")
        with open(self.path("pictures/0.png"), "rb") as file:
            whole = file.read()
        with open(self.path("pictures/broken.png"), "wb") as file:
            file.write(whole[: len(whole) // 2])
        status, out, err = self.export("--calibration", folder)
        self.assertEqual(status, 0, err)
        self.assertIn("on 4 calibration pictures", out)
        for name in ("notes.txt", "broken.png"):
            self.assertIn(f"skipped {self.path('pictures/' + name)}", err)

    def test_every_resize_mode(self):
        folder = self.write_pictures(1)
        for mode in preprocess.RESIZE_MODES:
            status, _, err = self.export("--calibration", folder, "--resize", mode)
            self.assertEqual((status, err), (0, ""))
            self.assertEqual(archive.load(self.out)[1]["input"]["resize"], mode)

    def test_warning_when_float_and_quantized_part(self):
        folder = self.write_pictures()
        arguments = (
            *("--arch", ARCH, "--weights", self.write_weights(), "--activations", "quint8"),
            *(
                "--size",
                SIZE,
                "--labels",
                self.write_labels(),
                "--calibration",
                folder,
                "-o",
                self.out,
            ),
        )
        for agreement, warned in ((89.9, True), (90.0, False)):
            with mock.patch.object(export, "compare", return_value=(agreement, 0.5)):
                status, out, err = run_export(*arguments)
            self.assertEqual(status, 0, err)
            self.assertIn(f"same top-1 {agreement:.1f} %", out)
            self.assertEqual("do not trust it" in err, warned, err)

    def test_compare_counts_what_parts(self):
        expected = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        model = lambda batch: batch
        parted = torch.tensor([[1.0, 0.0], [3.0, 1.0]])
        self.assertEqual(export.compare(expected, model, [expected]), (100.0, 0.0))
        self.assertEqual(export.compare(expected, model, [parted]), (50.0, 0.75))


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
        with self.assertRaisesRegex(export.Failure, "something else"):
            weights.is_rotated(model, loaded, SIZE)
        loaded.scripted = torch.jit.script(export.Rotated(model))
        self.assertTrue(weights.is_rotated(model, loaded, SIZE))

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

    def publish(self, name=None):
        """Serves a state dict as the published one. Returns its pretended URL and its sha256."""
        made = self.write_weights(random_state_dict(1000))
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
        for arch in export.ARCHES:
            self.assertIsNotNone(weights.hash_prefix(weights.published_url(arch)), arch)
            self.assertEqual(len(weights.categories(arch)), 1000)
        self.assertEqual(weights.hash_prefix("https://x/resnet18-f37072fd.pth"), "f37072fd")
        self.assertIsNone(weights.hash_prefix("https://x/resnet18.pth"))


class FailingArchiveTest(TemporaryFolder):
    def test_operator_that_refuses_the_activations(self):
        error = archive.ArchiveError("this operator takes no such type")
        with mock.patch.object(archive, "check", side_effect=error):
            result = run_export(
                *("--arch", ARCH, "--no-weights", "--size", SIZE, "-o", self.out),
                *("--calibration", self.write_pictures(1)),
            )
        self.assert_sentence(result, 65, ARCH, "no such type", "--activations quint8")
        self.assertEqual(sorted(os.listdir(self.folder)), ["pictures"])


if __name__ == "__main__":
    unittest.main()
