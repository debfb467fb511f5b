"""Folders of pictures for training, a folder for each class, as `lookout eval` takes them.

Needs (Debian 12): python3-numpy python3-pil python3-torch
"""

import hashlib
import io
import os
import re

import pictures
from failure import BAD_DATA, NO_INPUT, Failure, reason

# The files that `lookout eval` takes for pictures.
EXTENSIONS = (
    *(".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".dib", ".webp", ".tif", ".tiff"),
)
# Neighbouring snapshots of a camera are nearly the same picture. So a class is cut into blocks of
# neighbours, in the order of their names, and whole blocks are held out of the training.
BLOCKS = 5
MIN_PICTURES, FEW_PICTURES = BLOCKS, 20  # of a class
MAX_BROKEN = 10  # percent
PARTS = frozenset("train training val valid validation eval test testing".split())  # of a split set


class Picture:
    def __init__(self, path, label, digest):
        self.path = path
        self.label = label  # the class's index
        self.digest = digest  # SHA-256 of the file
        self.block = None  # 0 to BLOCKS - 1


class Classes:
    """The readable pictures of a folder, in the order of classes and names."""

    def __init__(self, labels, found, broken, doubles):
        self.labels = labels
        self.pictures = found
        self.broken = broken  # sentences on the files that are not readable
        self.doubles = doubles  # how many files were left out that are the same as another one

    def counts(self):
        """{label: pictures}"""
        labels = [picture.label for picture in self.pictures]
        return {label: labels.count(i) for i, label in enumerate(self.labels)}

    def digest(self):
        """A SHA-256 of all pictures and their classes, whatever the files are called."""
        lines = sorted(f"{self.labels[p.label]} {p.digest}\n" for p in self.pictures)
        return hashlib.sha256("".join(lines).encode()).hexdigest()


def natural(path):
    """A key that sorts 9.jpg before 10.jpg."""
    parts = re.split(r"(\d+)", path)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts], path


def class_folders(directory):
    if not os.path.isdir(directory):
        raise Failure(NO_INPUT, f"there is no folder {directory}")
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        raise Failure(NO_INPUT, f"cannot read the folder {directory}: {reason(error)}") from error
    folders = [
        entry for entry in entries if entry.is_dir() and not pictures.is_left_out(entry.name)
    ]
    if folders and all(entry.name.lower() in PARTS for entry in folders):
        raise Failure(
            BAD_DATA,
            f"{directory} holds the parts of a split set, not classes: give the part to train with",
        )
    if len(folders) < 2:
        found = f"one class, {folders[0].name}" if folders else "no folders"
        raise Failure(
            BAD_DATA,
            f"{directory} has {found}; training takes a folder of pictures for each class, two or more",
        )
    return folders


def files_of(folder):
    files = pictures.find_files(folder.path, "class")
    files = [path for path in files if os.path.splitext(path)[1].lower() in EXTENSIONS]
    if not files:
        raise Failure(BAD_DATA, f"there are no pictures in the class folder {folder.path}")
    return sorted(files, key=natural)


def problem(path, data):
    """Why the file is not a readable picture, or None."""
    try:
        pictures.read_picture(io.BytesIO(data))
    except pictures.UNREADABLE as error:
        return f"{path} is not a readable picture ({reason(error)})"
    return None


class Reader:
    """Reads every file once."""

    def __init__(self):
        self.found, self.broken, self.doubles = [], [], 0
        self.first_of = {}  # by digest

    def read(self, path, label):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as error:
            self.broken.append(f"cannot read {path}: {reason(error)}")
            return
        digest = hashlib.sha256(data).hexdigest()
        first = self.first_of.get(digest)
        if first is None:
            self.read_new(Picture(path, label, digest), data)
        elif first.label != label:
            raise Failure(
                BAD_DATA,
                f"{first.path} and {path} are the same picture in two classes; delete one of them",
            )
        else:
            self.doubles += 1

    def read_new(self, picture, data):
        self.first_of[picture.digest] = picture
        sentence = problem(picture.path, data)
        if sentence:
            self.broken.append(sentence)
        else:
            self.found.append(picture)


def check_broken(broken, files):
    if 100 * len(broken) > MAX_BROKEN * files:
        raise Failure(
            BAD_DATA,
            f"{len(broken)} of {files} pictures are broken, more than {MAX_BROKEN} %; "
            f"the first: {broken[0]}",
        )


def cut_into_blocks(found):
    """Gives each picture of a class its block."""
    for i, picture in enumerate(found):
        picture.block = i * BLOCKS // len(found)


def read(directory, progress):
    """The Classes of a folder."""
    folders = class_folders(directory)
    files = [(path, i) for i, folder in enumerate(folders) for path in files_of(folder)]
    reader = Reader()
    progress.begin("reading the pictures", len(files))
    for path, label in files:
        reader.read(path, label)
        progress.step()
    check_broken(reader.broken, len(files))
    for i, folder in enumerate(folders):
        found = [picture for picture in reader.found if picture.label == i]
        if len(found) < MIN_PICTURES:
            raise Failure(
                BAD_DATA,
                f"the class {folder.name} has {len(found)} readable pictures; "
                f"training needs {MIN_PICTURES} of each class or more",
            )
        cut_into_blocks(found)
    labels = [folder.name for folder in folders]
    return Classes(labels, reader.found, reader.broken, reader.doubles)
