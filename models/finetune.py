"""Fine-tuning of torchvision's classifiers on a few hundred pictures, on a processor.

First a new head (the last linear layer) is fitted to what the network makes of the pictures, cropped
and lit in different ways. Then the last blocks learn too, in small steps, with the batch norms as
they are, until pictures that are held out are no longer told better.

Everything is a function of the seed and the pictures, on one machine with one number of threads.

Needs (Debian 12): python3-torch python3-torchvision python3-pil python3-numpy libopenblas0
"""

import concurrent.futures
import copy

import numpy as np
import torch
from torch import nn

import augment
import networks
import pictures
from failure import NO_INPUT, Failure, reason

BATCH = 16
HEAD_PASSES = 4  # over the pictures, each time varied
HEAD_STEPS, HEAD_DECAY = 100, 1e-3
# Small steps: larger ones forget more of the base weights than a few hundred pictures can teach.
RATE, DECAY = 2e-5, 1e-2
BLOCKS = 5  # that learn
PATIENCE = 3  # epochs without a smaller loss
CALIBRATION_PICTURES = 200


def layers(block):
    """The layers within a block that can learn. Batch norms cannot: they stay as they are."""
    return [module for module in block.modules() if isinstance(module, (nn.Conv2d, nn.Linear))]


def blocks(model):
    """The blocks of a network that can learn, in the order of the data."""
    found = []
    for child in model.children():
        found += child.children() if isinstance(child, nn.Sequential) else [child]
    return [block for block in found if layers(block)]


def replace_head(model, classes):
    """Gives the network a new last layer, which knows nothing yet."""
    head = nn.Linear(networks.head_of(model).in_features, classes)
    nn.init.zeros_(head.weight)
    nn.init.zeros_(head.bias)
    networks.exchange_head(model, head)


def features(model, inputs):
    """What the head gets."""
    seen = []
    head = networks.head_of(model)
    hook = head.register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    try:
        with torch.no_grad():
            model(inputs)
    finally:
        hook.remove()
    return seen[0]


def labels_of(chosen):
    return torch.tensor([picture.label for picture in chosen])


class Loader:
    """Reads pictures as batches of inputs, several files at a time, a batch ahead.

    `options` has the model's size, resize, mean and std, and threads, seed and mirror.
    """

    def __init__(self, options, rotated):
        self.options, self.rotated = options, rotated
        self.pool = concurrent.futures.ThreadPoolExecutor(options.threads)

    def load(self, picture, variation):
        try:
            pixels = pictures.read_picture(picture.path)
        except pictures.UNREADABLE as error:
            raise Failure(NO_INPUT, f"cannot read {picture.path}: {reason(error)}") from error
        if variation is not None:
            rng = np.random.default_rng((self.options.seed, variation, int(picture.digest[:15], 16)))
            pixels = augment.photograph_again(rng, pixels, self.options.mirror)
        return pictures.as_input(pixels, self.options)

    def read(self, chosen, variation=None):
        """Yields batches as the archive takes them; each `variation` (an integer) is another one."""
        ahead = None
        for at in [*range(0, len(chosen), BATCH), None]:
            behind = ahead
            if at is not None:
                batch = chosen[at : at + BATCH]
                ahead = [self.pool.submit(self.load, picture, variation) for picture in batch]
            if behind:
                yield torch.stack([future.result() for future in behind])

    def batches(self, chosen, variation=None):
        """Yields (inputs as the network takes them, labels)."""
        at = 0
        for inputs in self.read(chosen, variation):
            inputs = networks.turned(inputs, self.rotated)
            targets = labels_of(chosen[at : at + BATCH])
            at += BATCH
            yield inputs.contiguous(memory_format=torch.channels_last), targets


def float_outputs(model, loader, chosen, progress=None):
    """A row of logits for each picture."""
    rows = []
    with torch.inference_mode():
        for inputs, targets in loader.batches(chosen):
            rows.append(model(inputs))
            if progress:
                progress.step(len(targets))
    return torch.cat(rows)


def fit_head(model, loader, chosen, progress):
    progress.begin("the head", HEAD_PASSES * len(chosen))
    rows, targets = [], []
    for variation in range(HEAD_PASSES):
        for inputs, labels in loader.batches(chosen, variation):
            rows.append(features(model, inputs))
            targets.append(labels)
            progress.step(len(labels))
    rows, targets = torch.cat(rows), torch.cat(targets)
    head = networks.head_of(model)
    optimizer = torch.optim.LBFGS(
        head.parameters(), max_iter=HEAD_STEPS, line_search_fn="strong_wolfe"
    )

    def loss():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(rows), targets)
        loss = loss + HEAD_DECAY * head.weight.square().sum()
        loss.backward()
        return loss

    optimizer.step(loss)


def learning(model, count):
    """The weights of the last `count` blocks, of which the head is one. All others are frozen."""
    model.requires_grad_(False)
    return [
        weight
        for block in blocks(model)[-count:]
        for layer in layers(block)
        for weight in layer.requires_grad_(True).parameters()
    ]


def train_epoch(model, batches, optimizer, progress):
    """The mean loss."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    total, count = 0.0, 0
    for inputs, targets in batches:
        loss = nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(targets)
        count += len(targets)
        progress.step(len(targets))
    model.eval()
    return total / count


def shuffled(chosen, seed):
    order = np.random.default_rng(seed).permutation(len(chosen))
    return [chosen[i] for i in order]


class Best:
    """The weights with the smallest loss on the pictures that are held out, or the latest ones where
    none are."""

    def __init__(self, model, loader, held_out, progress):
        self.model, self.loader, self.held_out = model, loader, held_out
        self.progress = progress
        self.loss, self.epoch, self.state = float("inf"), 0, None

    def offer(self, epoch, text):
        """Compares what the model has learned by the end of this epoch; `text` tells of it."""
        loss = -epoch
        if self.held_out:
            rows = float_outputs(self.model, self.loader, self.held_out, self.progress)
            targets = labels_of(self.held_out)
            loss = nn.functional.cross_entropy(rows, targets).item()
            share = 100 * (rows.argmax(1) == targets).double().mean().item()
            text += f"; held out: loss {loss:.3f}, {share:.1f} % right"
        self.progress.line(text)
        if loss < self.loss:
            self.loss, self.epoch = loss, epoch
            self.state = copy.deepcopy(self.model.state_dict())

    def is_old(self, epoch):
        return epoch - self.epoch >= PATIENCE


def fine_tune(model, loader, train, held_out, options, epochs, progress):
    """Fits the head, then lets the last blocks learn for at most so many epochs; fewer when the
    pictures held out show no more progress. Returns the epoch whose weights the model has then."""
    torch.manual_seed(options.seed)
    fit_head(model, loader, train, progress)
    best = Best(model, loader, held_out, progress)
    progress.begin("the head", len(held_out) or 1)
    best.offer(0, "the head alone")
    optimizer = torch.optim.AdamW(learning(model, options.blocks), lr=RATE, weight_decay=DECAY)
    progress.begin("the last blocks", epochs * (len(train) + len(held_out)))
    for epoch in range(1, epochs + 1):
        text = f"epoch {epoch} of at most {epochs}"
        progress.text = text
        chosen = shuffled(train, (options.seed, epoch))
        batches = loader.batches(chosen, HEAD_PASSES + epoch)
        loss = train_epoch(model, batches, optimizer, progress)
        best.offer(epoch, f"{text}: loss {loss:.3f}")
        if best.is_old(epoch):
            break
    model.load_state_dict(best.state)
    return best.epoch


def convert(model, loader, train, options, labels):
    """The form in which it is written, calibrated with pictures of the training."""
    step = -(-len(train) // CALIBRATION_PICTURES)
    model = model.to(memory_format=torch.contiguous_format)
    batches = loader.read(train[::step])
    return networks.converted(model, options, len(labels), batches, loader.rotated)
