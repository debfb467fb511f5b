"""Draws accuracy against instructions, as SVG.

Two panels: smaller inputs of one network, and other networks. Needs nothing but Python 3.
"""

import dataclasses

WIDTH, HEIGHT = 900, 430
TOP, BOTTOM = 120, 56
INK, FAINT, BACKGROUND = "#1f2328", "#d0d7de", "#ffffff"
COLORS = {
    "own_classes_percent": "#0550ae",
    "published_percent": "#1a7f37",
}


@dataclasses.dataclass
class Panel:
    """The area of a panel in pixels, and the range of its axes."""

    left: int
    right: int
    x_range: tuple
    y_range: tuple

    def x(self, value):
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value):
        low, high = self.y_range
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def text(x, y, content, anchor="middle", color=INK, size=13, weight="normal"):
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{color}" '
        f'font-size="{size}" font-weight="{weight}">{content}</text>'
    )


def line(x1, y1, x2, y2, color=FAINT):
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{color}"/>'


def axes(panel, title, x_ticks, y_ticks):
    parts = [text(panel.left, 28, title, "start", size=16, weight="bold")]
    for tick in y_ticks:
        y = panel.y(tick)
        parts.append(line(panel.left, y, panel.right, y))
        parts.append(text(panel.left - 8, y + 4, f"{tick} %", "end"))
    for tick in x_ticks:
        x = panel.x(tick)
        parts.append(line(x, panel.y(panel.y_range[0]), x, panel.y(panel.y_range[0]) + 5, INK))
        parts.append(text(x, HEIGHT - BOTTOM + 20, str(tick)))
    middle = (panel.left + panel.right) / 2
    parts.append(text(middle, HEIGHT - 12, "million instructions a frame, Cortex-A72"))
    return parts


def dot(x, y, color):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{color}"/>'


def points_of(rows, column):
    """(row, million instructions, percent), where both are known, from cheap to dear."""
    known = [row for row in rows if row["million_instructions"] and row[column]]
    points = [(row, float(row["million_instructions"]), float(row[column])) for row in known]
    return sorted(points, key=lambda point: point[1])


def curve(panel, rows, column):
    color, points = COLORS[column], points_of(rows, column)
    places = [(panel.x(cost), panel.y(percent)) for _, cost, percent in points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    parts = [f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="2"/>']
    for (_, _, percent), (x, y) in zip(points, places):
        parts.append(dot(x, y, color))
        parts.append(text(x + 8, y + 18, f"{percent:.0f} %", "start", color))
    return parts


def legend(x, y, column, caption):
    color = COLORS[column]
    return [dot(x + 5, y - 4, color), text(x + 16, y, caption, "start", color, weight="bold")]


def size_marks(panel, rows):
    """Each size with how many times fewer instructions it takes than the largest."""
    points = points_of(rows, "own_classes_percent")
    parts = []
    for row, cost, _ in points:
        x = panel.x(cost)
        parts.append(text(x, 76, f"{row['size']}²", weight="bold"))
        if cost < points[-1][1]:
            parts.append(text(x, 92, f"÷ {points[-1][1] / cost:.1f}", size=12))
        parts.append(f'<path d="M{x:.1f} 98V{HEIGHT - BOTTOM}" stroke="{FAINT}" stroke-dasharray="3"/>')
    return parts


def sizes_panel(rows):
    rows = [row for row in rows if row["network"] == "mobilenet_v2"]
    panel = Panel(60, 440, (0, 130), (70, 100))
    parts = axes(panel, "MobileNetV2 with smaller inputs", range(0, 121, 20), range(70, 101, 5))
    parts += size_marks(panel, rows)
    parts += curve(panel, rows, "own_classes_percent")
    parts.append(text(panel.right, 52, "÷ 2: half the instructions", "end", size=12))
    return parts + legend(60, 52, "own_classes_percent", "two classes, retrained")


def networks_panel(rows):
    rows = [row for row in rows if row["size"] == "224"]
    panel = Panel(530, 880, (0, 130), (66, 74))
    parts = axes(panel, "Other networks at 224²", range(0, 121, 20), range(66, 75, 2))
    color = COLORS["published_percent"]
    for row, cost, percent in points_of(rows, "published_percent"):
        x, y = panel.x(cost), panel.y(percent)
        parts.append(dot(x, y, color))
        parts.append(text(x - 9, y + 4, row["network"], "end"))
    caption = "ImageNet top-1, as torchvision publishes it"
    return parts + legend(panel.left, 52, "published_percent", caption)


def draw(rows):
    parts = sizes_panel(rows) + networks_panel(rows)
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{BACKGROUND}"/>\n{body}\n</svg>\n'
    )
