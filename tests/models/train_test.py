"""Tests of the training: its pictures, what it learns, and the archives that it writes."""

import errno
import json
import os
import shutil
import unittest
from unittest import mock

from testing import (
    ARCH,
    CLASSES,
    MODELS,
    SIZE,
    TemporaryFolder,
    random_state_dict,
    run_train,
    state_dict_that_sees,
)

import torch
import torchvision

import archive
import augment
import classes
import finetune
import train
import weights


class TrainTest(TemporaryFolder):
    def train(self, *arguments, base=("--no-weights",)):
        return run_train(self.pictures(), "-o", self.out, *base, *arguments)

    def pictures(self):
        if not os.path.exists(self.path("classes")):
            self.write_classes()
        return self.path("classes")

    def producer_info(self):
        return json.loads(archive.extra(self.out, "producer_info.json"))

    def test_learns_two_classes_and_says_how_well(self):
        base = self.write_weights(state_dict_that_sees())
        status, out, err = self.train("--name", "door", base=("--weights", base))
        self.assertEqual(status, 0, err)
        self.assertIn("2 labels", out)
        self.assertIn("held out: 2 of 2 pictures right, 100.0 %", out)
        self.assertIn("float against quantized: 100.0 % and 100.0 % right", out)
        model, metadata, labels = archive.load(self.out)
        self.assertEqual(labels, ["blue", "red"])
        self.assertEqual((metadata["name"], metadata["trained"]), ("door", True))
        self.assertEqual(metadata["producer"]["tool"], "lookout models/train.py")
        self.assertIn("fine-tuned by models/train.py on 12 pictures of 2 classes", metadata["weights"])
        facts = self.producer_info()
        self.assertEqual(facts["classes"], {"blue": 6, "red": 6})
        self.assertEqual(facts["pictures"], 12)
        self.assertEqual((facts["accuracy"]["right"], facts["accuracy"]["percent"]), (2, 100))
        self.assertEqual(facts["validation"], "the middle of 5 blocks in the order of names")
        inputs = [
            augment.to_tensor(augment.sample((9, i % 2), i // 2, SIZE, (labels[1 - i % 2],))[0])
            for i in range(12)
        ]
        right = model(torch.stack(inputs)).argmax(1) == torch.tensor([1, 0] * 6)
        self.assertGreaterEqual(int(right.sum()), 11)

    def test_progress_is_lines_in_a_pipe(self):
        _, _, err = self.train()
        self.assertNotIn("\r", err)
        self.assertIn("12 pictures of 2 classes: blue 6, red 6\n", err)
        self.assertRegex(err, r"epoch 1 of at most 1: loss [0-9.]+; held out: loss [0-9.]+, ")

    def test_the_same_pictures_make_the_same_archive(self):
        digests = []
        for seed in (1, 1, 2):
            self.assertEqual(self.train("--seed", seed, "--mirror")[0], 0)
            digests.append(archive.sha256(self.out))
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_cross_validation_uses_every_picture(self):
        status, out, err = self.train("--cross-validate", "--epochs", 0)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"cross-validated: \d+ of 12 pictures right")
        self.assertIn("fifth 5 of 5 held out", err)
        facts = self.producer_info()
        self.assertEqual(facts["accuracy"]["pictures"], 12)
        self.assertEqual(facts["validation"], "5 blocks in the order of names")
        self.assertEqual(facts["epochs"], [0] * 5)

    def test_float_weights_are_torchvisions(self):
        status, _, err = self.train("--float-weights", self.path("float.pth"))
        self.assertEqual(status, 0, err)
        model = torchvision.models.get_model(ARCH, num_classes=2)
        model.load_state_dict(weights.from_file(self.path("float.pth")).state)

    def test_float_archive(self):
        status, out, err = self.train("--activations", "float32", "--epochs", 0)
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"float against written: .* same top-1 100.0 %")
        self.assertEqual(archive.load(self.out)[1]["quantization"], "none")

    def test_published_weights(self):
        state = self.write_weights(random_state_dict(1000))
        digest = archive.sha256(state)
        url = f"https://download.pytorch.org/models/net-{digest[:8]}.pth"
        os.rename(state, self.path(os.path.basename(url)))
        with mock.patch.object(weights, "published_url", return_value=url), mock.patch.dict(
            os.environ, {"TORCH_HOME": self.path("cache")}
        ):
            status, _, err = self.train(base=("--base-url", f"file://{self.folder}"))
        self.assertEqual(status, 0, err)
        _, metadata, labels = archive.load(self.out)
        self.assertEqual(len(labels), 2)
        self.assertIn(f"{url} sha256 {digest}, fine-tuned", metadata["weights"])

    def test_archive_that_rotates_its_input(self):
        class RotatedNetwork(torchvision.models.ShuffleNetV2):
            def forward(self, x):
                return self._forward_impl(torch.flip(x, [2, 3]))

        model = RotatedNetwork([4, 8, 4], [24, 48, 96, 192, 1024], num_classes=CLASSES)
        model.load_state_dict(state_dict_that_sees())
        torch.jit.script(model.eval()).save(self.path("float.pt"))
        status, _, err = self.train(base=("--weights", self.path("float.pt")))
        self.assertEqual(status, 0, err)
        self.assertIn("flip", archive.load(self.out)[0].code)

    def test_interrupted(self):
        self.write("model.pt", "the old one")
        before = sorted(os.listdir(self.folder)) + ["classes"]
        for place in ((finetune, "train_epoch"), (archive, "check")):
            with mock.patch.object(*place, side_effect=KeyboardInterrupt):
                status, _, err = self.train()
            self.assertEqual(status, 130)
            self.assertIn("interrupted; nothing was written", err)
            self.assertEqual(sorted(os.listdir(self.folder)), sorted(before))
            with open(self.out, encoding="utf-8") as file:
                self.assertEqual(file.read(), "the old one")

    def test_full_disk(self):
        full = OSError(errno.ENOSPC, "No space left on device")
        with mock.patch.object(archive, "write_bytes", side_effect=full):
            status, _, err = self.train()
        self.assertEqual(status, 73)
        self.assertIn(f"cannot write {self.out}: No space left on device\n", err)
        self.assertEqual(os.listdir(self.folder), ["classes"])

    def test_quantized_archive_is_no_base(self):
        base = os.path.join(MODELS, "selftest.pt")
        self.assert_sentence(self.train(base=("--weights", base)), 65, "a quantized archive")

    def test_quantization_that_costs_too_much(self):
        check = train.Check()
        held_out = [classes.Picture(f"{i}.jpg", 0, "") for i in range(100)]
        rows = torch.tensor([[1.0, 0.0]] * 100)
        check.add(held_out, {"float": rows, "quantized": rows.clone()}, 1)
        self.assertEqual((check.right("quantized"), check.mistakes()), (100, []))
        check.rows["quantized"][0][:2] = torch.tensor([0.0, 1.0])
        self.assertEqual(check.percent("float") - check.percent("quantized"), 2)
        self.assertEqual([(p.path, i) for p, i in check.mistakes()], [("0.jpg", 1), ("1.jpg", 1)])

    def test_interval(self):
        low, high = train.interval(90, 100)  # Wilson, 1927
        self.assertAlmostEqual(low, 82.56, places=2)
        self.assertAlmostEqual(high, 94.48, places=2)
        self.assertAlmostEqual(train.interval(5, 5)[1], 100)

    def test_usage(self):
        self.assert_sentence(run_train(self.pictures()), 64, "-o")
        for arguments, part in (
            (("--epochs", "-1"), "-1"),
            (("--size", "big"), "big"),
            (("--arch", "efficientnet_b0"), "efficientnet_b0"),
        ):
            self.assert_sentence(self.train(*arguments), 64, part)
        small = self.train("--arch", "inception_v3")
        self.assert_sentence(small, 65, f"inception_v3 does not take {SIZE}x{SIZE}")
        missing = run_train(self.pictures(), "--no-weights", "-o", self.path("no/model.pt"))
        self.assert_sentence(missing, 66, self.path("no"))


class PicturesTest(TemporaryFolder):
    def train(self):
        return run_train(self.path("classes"), "-o", self.out, "--no-weights", "--epochs", 0)

    def copy(self, source, target):
        shutil.copy(self.path(f"classes/{source}"), self.path(f"classes/{target}"))

    def test_missing_folder(self):
        self.assert_sentence(self.train(), 66, "there is no folder", self.path("classes"))

    def test_one_class(self):
        self.write_classes(("red",))
        self.assert_sentence(self.train(), 65, "one class, red", "two or more")

    def test_no_class(self):
        self.write_classes(())
        os.makedirs(self.path("classes"))
        self.assert_sentence(self.train(), 65, "no folders")

    def test_empty_class(self):
        self.write_classes()
        os.makedirs(self.path("classes/green"))
        self.write("classes/green/notes.txt", "not a picture")
        self.assert_sentence(self.train(), 65, "no pictures", self.path("classes/green"))

    def test_too_few_pictures(self):
        self.write_classes(count=4)
        self.assert_sentence(self.train(), 65, "blue has 4 readable pictures", "5")

    def test_same_picture_in_two_classes(self):
        self.write_classes()
        self.copy("red/2.png", "blue/a copy.png")
        self.assert_sentence(self.train(), 65, "blue/a copy.png", "red/2.png", "two classes")

    def test_same_picture_twice_in_a_class(self):
        self.write_classes()
        self.copy("red/2.png", "red/a copy.png")
        status, _, err = self.train()
        self.assertEqual(status, 0, err)
        self.assertIn("12 pictures of 2 classes", err)
        self.assertIn("files left out because they are the same as another one: 1", err)

    def test_broken_pictures_are_counted(self):
        self.write_classes(count=10)
        self.write("classes/red/broken 1.jpg", "no JPEG")
        with open(self.path("classes/blue/1.png"), "r+b") as file:
            file.truncate(60)
        status, _, err = self.train()
        self.assertEqual(status, 0, err)
        self.assertIn("19 pictures of 2 classes: blue 9, red 10", err)
        for name in ("red/broken 1.jpg", "blue/1.png"):
            self.assertIn(f"skipped: {self.path('classes/' + name)} is not a readable", err)
        self.write("classes/red/broken 2.jpg", "")
        os.remove(self.out)
        self.assert_sentence(self.train(), 65, "3 of 22 pictures are broken", "10 %", "1.png")

    def test_hidden_files_and_other_files_are_no_pictures(self):
        self.write_classes()
        os.makedirs(self.path("classes/.thumbnails"))
        self.write("classes/red/.1.png", "hidden")
        self.write("classes/red/Thumbs.db", "a list")
        found = classes.read(self.path("classes"), mock.Mock())
        self.assertEqual(found.counts(), {"blue": 6, "red": 6})
        self.assertEqual(found.broken, [])

    def test_system_folders_are_left_out(self):
        self.write_classes()
        for folder in ("@eaDir", "$RECYCLE.BIN", "lost+found", "red/@eaDir", "blue/.cache"):
            os.makedirs(self.path(f"classes/{folder}"))
            self.copy("red/1.png", f"{folder}/1.png")
        found = classes.read(self.path("classes"), mock.Mock())
        self.assertEqual(found.counts(), {"blue": 6, "red": 6})
        self.assertEqual(found.doubles, 0)

    def test_a_split_set_is_refused(self):
        for part in ("train", "Val"):
            os.makedirs(self.path(f"classes/{part}/red"))
        self.assert_sentence(self.train(), 65, "parts of a split set", "the part to train with")

    def test_blocks_are_neighbours_in_the_order_of_names(self):
        self.write_classes(count=12)
        found = classes.read(self.path("classes"), mock.Mock())
        red = [picture for picture in found.pictures if picture.label == 1]
        names = [os.path.basename(picture.path) for picture in red]
        self.assertEqual(names, [f"{i}.png" for i in range(12)])
        blocks = [picture.block for picture in red]
        self.assertEqual(blocks, sorted(blocks))
        self.assertEqual({blocks.count(i) for i in range(classes.BLOCKS)}, {2, 3})

    def test_digest_is_of_contents_and_classes(self):
        self.write_classes()
        read = lambda: classes.read(self.path("classes"), mock.Mock()).digest()
        before = read()
        os.rename(self.path("classes/red/1.png"), self.path("classes/red/other.png"))
        self.assertEqual(read(), before)
        os.rename(self.path("classes/red"), self.path("classes/rouge"))
        self.assertNotEqual(read(), before)


if __name__ == "__main__":
    unittest.main()
