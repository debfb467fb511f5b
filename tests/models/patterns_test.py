"""Tests of the test patterns, of preprocessing, and of the self-test model that knows the patterns."""

import os
import unittest
from unittest import mock

from testing import MODELS, TESTS

import numpy as np
import torch
import torchvision

import archive
import augment
import patterns
import preprocess
import train_selftest


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
        # The archive is older than the field "output".
        for key in set(expected) - {"producer", "output"}:
            self.assertEqual(self.metadata[key], expected[key])
        self.assertTrue(self.metadata["trained"])
        self.assertLess(os.path.getsize(self.path), 1_500_000)

    def test_report_is_about_this_archive(self):
        with open(os.path.join(MODELS, "selftest.md"), encoding="utf-8") as file:
            self.assertIn(archive.sha256(self.path), file.read())

    def test_every_pattern(self):
        with mock.patch.object(train_selftest, "CHECKED_SHIFTS", 3):
            ((right, frames, lowest),) = train_selftest.check_patterns((self.model,))
        self.assertEqual(right, frames)
        self.assertGreater(lowest, 0.5)
        self.assertGreater(train_selftest.min_at_rest(self.model), 0.8)

    def test_held_out_pictures(self):
        pictures = [augment.sample(11, i) for i in range(160)]
        inputs = torch.stack([augment.to_tensor(pixels) for pixels, _ in pictures])
        with torch.inference_mode():
            answers = self.model(inputs).argmax(1).tolist()
        right = sum(answer == label for answer, (_, label) in zip(answers, pictures))
        self.assertGreaterEqual(right, 152)
