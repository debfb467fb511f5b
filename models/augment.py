"""Training pictures for the self-test model: the test patterns as cameras may show them.

Besides the patterns of patterns.py at usual frame sizes, it draws the variants of the kernel's
`vivid` camera (other cells, thicknesses, levels and polarities, on-screen text) and what a real
path adds: noise, gain, gamma, blur, JPEG, 4:2:2 chroma, a wrong YCbCr matrix. Each picture is a
function of (seed, index).

Needs (Debian 12): python3-numpy python3-pil python3-torch
"""

import functools
import io

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFilter, ImageFont, ImageOps

import patterns
import preprocess

# The large ones are slow to draw and easier to tell apart, so they come less often.
FRAME_SIZES = (
    *[(224, 224)] * 6,
    *[(320, 180), (320, 240), (640, 480)] * 3,
    *[(640, 360), (1280, 720)] * 2,
    (800, 600),
)
# Of a photograph's area: what is left of it at least when it is cropped.
MIN_CROP = 0.4
PHOTOGRAPH_GAIN = 0.3  # changes of the light that a camera's exposure leaves
MAX_NOISE = 27  # a little above the 25 of test://
# Below the first contrast (standard deviation, in levels) fine lines have become gray; between the
# two nobody can tell, and such pictures are not used.
GRAY_BELOW, LINES_FROM = 4.0, 20.0
NOISE_FROM = 8.0
FINE = ("checkers", "hlines", "vlines", "noise", "cross")
GRAY = patterns.NAMES.index("gray")

# Luma weights (Kr, Kb) of the two YCbCr matrices that cameras and drivers take for each other.
BT601, BT709 = (0.299, 0.114), (0.2126, 0.0722)


def level(rng, low, high):
    return int(rng.integers(low, high + 1))


def dark_and_light(rng):
    """Two gray colors far apart, either one first."""
    colors = [(level(rng, 0, 50),) * 3, (level(rng, 190, 255),) * 3]
    return colors if rng.random() < 0.5 else colors[::-1]


def strong_color(rng, name):
    """Red, green or blue as cameras show it."""
    high = level(rng, 160, 255)
    return tuple(high if full else level(rng, 0, 45) for full in patterns.SOLIDS[name])


def gray_color(rng, _name):
    base = level(rng, 90, 165)
    return tuple(base + level(rng, -6, 6) for _ in range(3))


def shade(rng, name):
    low, high = {"black": (0, 35), "white": (225, 255)}[name]
    return tuple(level(rng, low, high) for _ in range(3))


def random_thickness(rng, width, height):
    """1 pixel to an eighth of the frame, mostly thin."""
    return max(1, int(np.exp(rng.uniform(0, np.log(min(width, height) / 8)))))


def varied_red_blue_checkers(rng, size):
    pair = [strong_color(rng, "red"), strong_color(rng, "blue")]
    pair = pair if rng.random() < 0.5 else pair[::-1]
    return patterns.checkers(*size, random_thickness(rng, *size), *pair)


def varied_cross(rng, size):
    half = level(rng, 1, max(2, min(size) // 16))
    picture = patterns.cross(*size, half, *dark_and_light(rng))
    return np.roll(picture, level(rng, -size[1] // 8, size[1] // 8), axis=0)


def varied_lines(draw):
    """A variant of checkers or lines, which `draw` draws."""
    return lambda rng, size: draw(*size, random_thickness(rng, *size), *dark_and_light(rng))


BARS = {
    "colorbars": patterns.color_bars,
    "hcolorbars": patterns.horizontal_color_bars,
    "colorsquares": patterns.color_squares,
}
VARIED_SOLIDS = {
    **dict.fromkeys(("red", "green", "blue"), strong_color),
    **dict.fromkeys(("black", "white"), shade),
    "gray": gray_color,
}
# Functions that draw a variant of each other pattern, from (rng, (width, height)).
VARIANTS = {
    "checkers": varied_lines(patterns.checkers),
    "colorcheckers": varied_red_blue_checkers,
    "hlines": varied_lines(patterns.horizontal_lines),
    "vlines": varied_lines(patterns.vertical_lines),
    "cross": varied_cross,
}


def draw_variant(rng, name, width, height):
    """The pattern with other colors, thicknesses and polarities than the standard ones."""
    size = (width, height)
    colors = patterns.bar_colors(level(rng, 160, 255), level(rng, 0, 55))
    if name in BARS:
        return BARS[name](*size, colors)
    if name in VARIED_SOLIDS:
        return patterns.solid(*size, VARIED_SOLIDS[name](rng, name))
    if name in VARIANTS:
        return VARIANTS[name](rng, size)
    return patterns.draw(name, *size, rng)


def contrast(picture):
    return float(picture.mean(axis=2).std())


def is_ambiguous(name, small):
    """True if `small`, the scaled pattern without any disturbance, could be of another class."""
    if name in ("checkers", "hlines", "vlines"):
        return GRAY_BELOW <= contrast(small) < LINES_FROM
    if name == "noise":
        return contrast(small) < NOISE_FROM
    if name == "cross":
        # A thin line may fall between two pixels of a smaller picture.
        return np.ptp(small.mean(axis=2)) < 60
    return False


def label_of(name, small):
    """The class index: fine lines and checkers that scaling has averaged away are gray."""
    if name in ("checkers", "hlines", "vlines") and contrast(small) < GRAY_BELOW:
        return GRAY
    return patterns.NAMES.index(name)


@functools.lru_cache(maxsize=None)
def noise_pool():
    """One large picture of unit noise, to cut noise from: drawing noise for each picture takes too long."""
    return np.random.default_rng(1).standard_normal((1100, 1100, 3), np.float32)


def add_noise(rng, picture, sigma):
    height, width = picture.shape[:2]
    pool = noise_pool()
    top, left = level(rng, 0, pool.shape[0] - height), level(rng, 0, pool.shape[1] - width)
    noisy = pool[top : top + height, left : left + width] * np.float32(sigma)
    noisy += picture
    return np.clip(noisy, 0, 255, out=noisy).astype(np.uint8)


def add_marker(rng, picture):
    """The marker of test://: anywhere in the lower half."""
    height, width = picture.shape[:2]
    side = patterns.marker_side(width, height)
    patterns.draw_marker(
        picture, level(rng, 0, width - side), level(rng, height // 2, height - side)
    )


def add_text(rng, picture):
    """Lines of small white text in the upper left corner, as vivid shows its controls."""
    height, width = picture.shape[:2]
    lines = level(rng, 1, max(1, min(9, height * 2 // 3 // 16)))
    texts = [
        "".join(chr(level(rng, 32, 122)) for _ in range(level(rng, 10, 55))) for _ in range(lines)
    ]
    font = ImageFont.load_default()
    canvas = Image.fromarray(picture)
    draw = ImageDraw.Draw(canvas)
    box = rng.random() < 0.7
    for i, text in enumerate(texts):
        glyphs = Image.new("L", font.getbbox(text)[2:])
        ImageDraw.Draw(glyphs).text((0, 0), text, 255, font)
        glyphs = glyphs.resize((8 * len(text), 16))
        at = (16, 16 * (i + 1))
        if box:
            draw.rectangle((*at, at[0] + glyphs.width, at[1] + 15), (0, 0, 0))
        canvas.paste((255, 255, 255), at, glyphs)
    return np.array(canvas)


def to_ycbcr(rgb, matrix):
    kr, kb = matrix
    luma = rgb @ np.float32([kr, 1 - kr - kb, kb])
    return luma, (rgb[..., 2] - luma) / (2 - 2 * kb), (rgb[..., 0] - luma) / (2 - 2 * kr)


def to_rgb(luma, cb, cr, matrix):
    kr, kb = matrix
    red, blue = luma + (2 - 2 * kr) * cr, luma + (2 - 2 * kb) * cb
    green = (luma - kr * red - kb * blue) / (1 - kr - kb)
    return np.clip(np.stack([red, green, blue], axis=2), 0, 255).astype(np.uint8)


def through_yuyv(rng, picture):
    """4:2:2: chroma of pixel pairs averaged, and now and then decoded with the other matrix."""
    pair = [BT601, BT709]
    coded, decoded = pair[level(rng, 0, 1)], pair[level(rng, 0, 1)]
    width = picture.shape[1]
    even = np.pad(picture, ((0, 0), (0, width % 2), (0, 0)), mode="edge")
    luma, cb, cr = to_ycbcr(even.astype(np.float32), coded)
    cb, cr = (np.repeat((c[:, ::2] + c[:, 1::2]) / 2, 2, axis=1) for c in (cb, cr))
    return to_rgb(luma, cb, cr, decoded)[:, :width]


def tone(rng, picture, gain=0.13):
    """Gain (1 - `gain` to 1 + `gain`), offset and gamma, with a slight color cast."""
    values = np.arange(256) / 255
    gains = rng.uniform(1 - gain, 1 + gain) * rng.uniform(0.95, 1.05, (3, 1))
    curves = values ** rng.uniform(0.8, 1.25) * gains + rng.uniform(-0.05, 0.05)
    table = np.clip(curves * 255, 0, 255).astype(int).ravel().tolist()
    return np.asarray(Image.fromarray(picture).point(table))


def blur(rng, picture):
    radius = rng.uniform(0.3, 0.8)
    return np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(radius)))


def through_jpeg(rng, picture):
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "JPEG", quality=level(rng, 60, 95))
    return np.asarray(Image.open(data))


def to_square(picture, side):
    height, width = picture.shape[:2]
    left, top, w, h = preprocess.center_crop_box((width, height), (side, side))
    return preprocess.scale(Image.fromarray(picture[top : top + h, left : left + w]), (side, side))


def random_frame_size(rng):
    if rng.random() < 0.85:
        return FRAME_SIZES[level(rng, 0, len(FRAME_SIZES) - 1)]
    height = level(rng, 120, 720)
    return int(height * rng.uniform(0.75, 1.8)), height


def central_part(picture):
    """The centre square: the model never sees the rest of the frame."""
    height, width = picture.shape[:2]
    left, top, w, h = preprocess.center_crop_box((width, height), (1, 1))
    return picture[top : top + h, left : left + w]


def disturb_frame(rng, name, frame, max_noise):
    """Adds noise, and the text and marker that test:// and vivid draw. Returns the centre square."""
    if rng.random() < 0.25:
        frame = add_text(rng, frame)
    frame = np.ascontiguousarray(central_part(frame))
    if rng.random() < 0.6:
        add_marker(rng, frame)
    # Noise on gray and the class "noise" are told apart by color alone: both need to be frequent.
    if rng.random() < (0.75 if name in ("gray", "noise") else 0.45):
        frame = add_noise(rng, frame, rng.uniform(1, max_noise))
    return frame


def disturb_small(rng, picture):
    """Adds the artefacts of cameras, after scaling, where that is cheap and they are larger."""
    for chance, step in ((0.3, through_yuyv), (0.4, tone), (0.1, through_jpeg), (0.1, blur)):
        if rng.random() < chance:
            picture = step(rng, picture)
    return picture


def photograph_again(rng, photograph, mirror):
    """The Pillow picture as the camera may take it another time: moved, nearer, in another light,
    and mirrored half the times, if `mirror`."""
    share = np.sqrt(rng.uniform(MIN_CROP, 1))
    width, height = (max(1, round(side * share)) for side in photograph.size)
    left, top = level(rng, 0, photograph.width - width), level(rng, 0, photograph.height - height)
    cropped = photograph.crop((left, top, left + width, top + height))
    if mirror and rng.random() < 0.5:
        cropped = ImageOps.mirror(cropped)
    return Image.fromarray(tone(rng, np.asarray(cropped), PHOTOGRAPH_GAIN))


def draw_frame(rng, name, varied):
    width, height = random_frame_size(rng)
    frame = (
        draw_variant(rng, name, width, height)
        if varied
        else patterns.draw(name, width, height, rng)
    )
    reach = patterns.max_shift(width)
    return patterns.shift(frame, level(rng, -reach, reach))


def sample(seed, index, side=224, names=patterns.NAMES, max_noise=MAX_NOISE):
    """(side x side x RGB bytes, class index), the same whenever seed and index are the same.

    A seed is one integer or several; the patterns `names` take turns.
    """
    rng = np.random.default_rng([*np.atleast_1d(seed), index])
    name = names[index % len(names)]
    while True:
        frame = draw_frame(rng, name, varied=rng.random() < 0.45)
        clean = to_square(frame, side) if name in FINE else None
        if clean is None or not is_ambiguous(name, clean):
            break
    picture = disturb_small(rng, to_square(disturb_frame(rng, name, frame, max_noise), side))
    return picture, label_of(name, clean)


def to_tensor(pixels, mean=preprocess.IMAGENET_MEAN, std=preprocess.IMAGENET_STD):
    """3 x height x width, as torchvision's models take it."""
    return torch.from_numpy(preprocess.normalize(pixels, mean, std)).permute(2, 0, 1).contiguous()


class Patterns(torch.utils.data.Dataset):
    """`count` training pictures, as (tensor, class index)."""

    def __init__(self, seed, count, side=224, names=patterns.NAMES, max_noise=MAX_NOISE):
        self.seed, self.count = seed, count
        self.how = (side, names, max_noise)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        picture, label = sample(self.seed, index, *self.how)
        return to_tensor(picture), label
