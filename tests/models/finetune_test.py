"""Tests of the fine-tuning: what learns, when it stops, and what its progress looks like."""

import io
import unittest
from unittest import mock

from testing import ARCH, CLASSES, SIZE, random_state_dict

import torch
import torchvision
from torch import nn

import classes
import finetune
import networks
from progress import Progress, duration


class LearningTest(unittest.TestCase):
    def network(self):
        model = networks.float_model(ARCH, CLASSES)
        model.load_state_dict(random_state_dict())
        finetune.replace_head(model, 2)
        return model

    def test_head_is_replaced(self):
        for arch in (ARCH, "mobilenet_v2", "mobilenet_v3_small", "resnet18"):
            with self.subTest(arch):
                model = networks.float_model(arch, CLASSES)
                finetune.replace_head(model, 3)
                outputs = model(torch.rand(1, 3, SIZE, SIZE))
                self.assertEqual(outputs.tolist(), [[0, 0, 0]])
                model.load_state_dict(networks.float_model(arch, 3).state_dict())

    def test_features_are_the_input_of_the_head(self):
        model, inputs = self.network(), torch.rand(2, 3, SIZE, SIZE)
        seen = finetune.features(model, inputs)
        torch.testing.assert_close(networks.head_of(model)(seen), model(inputs))

    def test_only_the_last_blocks_learn(self):
        model = self.network()
        learning = finetune.learning(model, 3)
        names = [name for name, weight in model.named_parameters() if weight.requires_grad]
        self.assertEqual(names, ["stage4.3.branch2.0.weight", *names[1:]])
        self.assertEqual(names[-3:], ["conv5.0.weight", "fc.weight", "fc.bias"])
        before = {name: value.clone() for name, value in model.state_dict().items()}
        batch = torch.rand(4, 3, SIZE, SIZE), torch.tensor([0, 1, 0, 1])
        nn.init.normal_(networks.head_of(model).weight)
        optimizer = torch.optim.AdamW(learning, lr=0.1)
        finetune.train_epoch(model, [batch], optimizer, mock.Mock())
        for name, value in model.state_dict().items():
            changed = not torch.equal(value, before[name])
            self.assertEqual(changed, name in names, name)  # batch norms included


class Losses:
    """Stands in for the network's answers: makes the loss of each epoch what the test says."""

    def __init__(self, losses):
        self.losses = iter(losses)

    def __call__(self, model, loader, chosen, progress):
        # Cross-entropy of logits (x, 0) with class 0 is ln(1 + e^-x).
        x = -torch.log(torch.expm1(torch.tensor(next(self.losses))))
        return torch.tensor([[x, 0.0]])


class StopTest(unittest.TestCase):
    def fine_tune(self, losses, epochs, held_out=True):
        """(epoch that is kept, epochs that were trained). Epoch n leaves the weight n."""
        model = nn.Linear(1, 2)
        trained = []

        def epoch(*_):
            trained.append(len(trained) + 1)
            nn.init.constant_(model.weight, trained[-1])
            return 0.5

        held_out = [classes.Picture("a.jpg", 0, "0")] if held_out else []
        options = mock.Mock(seed=1, blocks=1)
        nn.init.zeros_(model.weight)
        with mock.patch.multiple(
            finetune,
            fit_head=mock.DEFAULT,
            learning=mock.Mock(return_value=model.parameters()),
            float_outputs=Losses(losses),
            train_epoch=epoch,
        ):
            kept = finetune.fine_tune(model, mock.Mock(), [], held_out, options, epochs, mock.Mock())
        self.assertEqual(model.weight[0].item(), kept)
        return kept, len(trained)

    def test_stops_when_the_loss_no_longer_falls(self):
        self.assertEqual(self.fine_tune([0.9, 0.8, 0.7, 0.75, 0.72, 0.71, 0.1], 12), (2, 5))

    def test_head_alone_may_be_best(self):
        self.assertEqual(self.fine_tune([0.2, 0.3, 0.4, 0.5], 12), (0, 3))

    def test_all_epochs_when_it_falls_or_nothing_is_held_out(self):
        self.assertEqual(self.fine_tune([0.9, 0.8, 0.7], 2), (2, 2))
        self.assertEqual(self.fine_tune([], 4, held_out=False), (4, 4))


class ProgressTest(unittest.TestCase):
    def test_terminal(self):
        stream, now = io.StringIO(), [0.0]
        stream.isatty = lambda: True
        progress = Progress(stream, lambda: now[0])
        progress.begin("epoch 1", 10)
        self.assertEqual(stream.getvalue(), "\r\033[Kepoch 1 ...")
        now[0] = 30.0
        progress.step(2)
        self.assertTrue(stream.getvalue().endswith("\r\033[Kepoch 1: 20 %, 2:00 left at most"))
        now[0] += 0.1
        progress.step()  # too soon to draw again
        progress.line("done")
        self.assertTrue(stream.getvalue().endswith("left at most\r\033[Kdone\n"))

    def test_pipe(self):
        stream = io.StringIO()
        progress = Progress(stream)
        progress.begin("epoch 1", 10)
        progress.step(2)
        progress.line("epoch 1: loss 0.5")
        self.assertEqual(stream.getvalue(), "epoch 1: loss 0.5\n")

    def test_durations(self):
        self.assertEqual([duration(s) for s in (7, 750, 3723)], ["0:07", "12:30", "1:02:03"])


if __name__ == "__main__":
    unittest.main()
