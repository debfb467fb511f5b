"""Tests of the export tool: its arguments, calibration, and the archives that it writes."""

import os
import unittest
from unittest import mock

from testing import ARCH, CLASSES, SIZE, TemporaryFolder, run_export

import torch
import torchvision
from PIL import Image

import archive
import export
import networks
import pictures
import preprocess
import quantize
from failure import Failure

ORIENTATION = 0x0112  # EXIF's tag


class ExportTest(TemporaryFolder):
    def test_mobilenet_v2_with_both_activations(self):
        labels = self.write_labels()
        ids = self.write("ids.txt", "".join(f"id{i}\n" for i in range(CLASSES)))
        for activations in quantize.ACTIVATIONS:
            with self.subTest(activations):
                status, out, err = run_export(
                    *("--arch", "mobilenet_v2", "--no-weights", "--activations", activations),
                    *("--size", SIZE, "--labels", labels, "--class-ids", ids),
                    *("--resize", "stretch", "-o", self.out),
                )
                self.assertEqual(status, 0, err)
                self.assertIn("no --calibration", err)
                self.assertIn("not measured, since there are no pictures", out)
                self.assertNotIn("top-1", out)
                model, metadata, stored = archive.load(self.out)
                self.assertEqual(model(torch.zeros(1, 3, SIZE, SIZE)).shape, (1, CLASSES))
                self.assertEqual(stored, [f"label {i}" for i in range(CLASSES)])
                self.check_metadata(metadata, activations)

    def test_mobilenet_v3_small(self):
        for activations in quantize.ACTIVATIONS:
            status, _, err = run_export(
                *("--arch", "mobilenet_v3_small", "--no-weights", "--activations", activations),
                *("--size", SIZE, "--labels", self.write_labels(), "-o", self.out),
            )
            self.assertEqual(status, 0, err)
            model, _, _ = archive.load(self.out)
            self.assertEqual(model(torch.zeros(1, 3, SIZE, SIZE)).shape, (1, CLASSES))

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

    def test_drawn_pictures_leave_room_for_the_logits_of_photographs(self):
        model = torchvision.models.mobilenet_v2(width_mult=0.1, num_classes=2).eval()
        twin = torchvision.models.quantization.mobilenet_v2(width_mult=0.1, num_classes=2)
        torch.nn.init.constant_(model.classifier[1].weight, 0)
        model.classifier[1].bias.data = torch.tensor([-3.0, 5.0])
        for dtype in quantize.ACTIVATIONS:
            quantized = quantize.quantize(
                model, twin, [torch.randn(2, 3, 64, 64)], dtype, drawn=True
            )
            self.assertAlmostEqual(255 * quantized.classifier[1].scale, 2 * 8, places=4)

    def test_float_archives(self):
        for arch in (ARCH, "googlenet"):
            with self.subTest(arch):
                status, out, err = run_export(
                    *("--arch", arch, "--no-weights", "--activations", "float32", "--size", SIZE),
                    *("--labels", self.write_labels(), "-o", self.out),
                )
                self.assertEqual((status, err), (0, ""))
                self.assertIn("float against written on 48 calibration pictures: same top-1 100.0", out)
                model, metadata, _ = archive.load(self.out)
                self.assertEqual(model(torch.zeros(2, 3, SIZE, SIZE)).shape, (2, CLASSES))
                self.assertEqual(metadata["quantization"], "none")

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
            ((*base, "--weights", "x.pth"), "--weights"),
            ((*base, "--size", "big"), "big"),
            ((*base, "--size", "7"), "7"),
            ((*base, "--mean", "1,2"), "1,2"),
            ((*base, "--std", "1,0,1"), "1,0,1"),
            ((*base, "--activations", "float"), "float"),
            ((*base, "--format", "pte"), "pte"),
            ((*base, "--resize", "fill"), "fill"),
            ((*base, "--colour"), "--colour"),
        ):
            with self.subTest(arguments):
                self.assert_sentence(run_export(*arguments), 64, part)

    def test_all_that_torchvision_can_quantize(self):
        known = torchvision.models.list_models(module=torchvision.models.quantization)
        names = {name.replace("quantized_", "") for name in known}
        # Of this one torchvision has the parts only.
        self.assertEqual(names | {"mobilenet_v3_small"}, set(networks.ARCHES))

    def test_labels_without_blanks_around_them_and_empty_lines_at_the_end(self):
        for text in ("a\nb c\n", "\ufeffa \r\n\tb c\r\n\r\n", "a\nb c\n \n\n"):
            self.assertEqual(export.read_labels(self.write("labels.txt", text)), ["a", "b c"])
        for text in ("", "\n", "a\n\nb\n"):
            with self.assertRaisesRegex(Failure, "is empty or has an empty line"):
                export.read_labels(self.write("labels.txt", text))

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

    def test_pictures_are_turned_upright(self):
        upright = Image.new("RGB", (48, 32), "red")
        upright.paste("blue", (0, 0, 24, 32))
        exif = Image.Exif()
        exif[ORIENTATION] = 6  # to be turned by 90 degrees clockwise
        upright.transpose(Image.ROTATE_90).save(self.path("a.png"), exif=exif)
        self.assertEqual(pictures.read_picture(self.path("a.png")).tobytes(), upright.tobytes())

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
            with mock.patch.object(networks, "compare", return_value=(agreement, 0.5)):
                status, out, err = run_export(*arguments)
            self.assertEqual(status, 0, err)
            self.assertIn(f"same top-1 {agreement:.1f} %", out)
            self.assertEqual("do not trust it" in err, warned, err)

    def test_drawn_pictures_do_not_judge_a_model(self):
        with mock.patch.object(networks, "compare", return_value=(10.0, 5.0)):
            status, out, err = run_export(
                *("--arch", ARCH, "--weights", self.write_weights(), "--activations", "qint8"),
                *("--size", SIZE, "--labels", self.write_labels(), "-o", self.out),
            )
        self.assertEqual(status, 0, err)
        self.assertIn("not measured", out)
        self.assertNotIn("do not trust it", err)

    def test_compare_counts_what_parts(self):
        expected = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
        model = lambda batch: batch
        parted = torch.tensor([[1.0, 0.0], [3.0, 1.0]])
        self.assertEqual(networks.compare(expected, model, [expected]), (100.0, 0.0))
        self.assertEqual(networks.compare(expected, model, [parted]), (50.0, 0.75))


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
