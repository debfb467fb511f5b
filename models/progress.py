"""How far a tool is: a line that counts and tells the time left on a terminal, and a line for each
finished part elsewhere.

Needs nothing but Python 3.
"""

import sys
import time

REDRAW_SECONDS = 0.2


def duration(seconds):
    """As 0:07, 12:30 or 1:02:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Progress:
    """Writes to stderr, or to `stream`. A part is begun, makes its steps, and ends with a line."""

    def __init__(self, stream=None, clock=time.monotonic):
        self.stream = stream or sys.stderr
        self.clock = clock
        self.terminal = self.stream.isatty()
        self.begin("", 1)

    def begin(self, text, total):
        self.text, self.total, self.done = text, total, 0
        self.started, self.drawn = self.clock(), None
        if text:
            self.show(f"{text} ...")

    def step(self, count=1):
        """`count` more of the total are done."""
        self.done += count
        now = self.clock()
        if self.drawn is not None and now - self.drawn < REDRAW_SECONDS:
            return
        self.drawn = now
        left = (now - self.started) * (self.total - self.done) / self.done
        share = f"{100 * self.done // self.total} %"
        self.show(f"{self.text}: {share}, {duration(left)} left at most")

    def line(self, text):
        """Writes a line that stays."""
        self.show("")
        print(text, file=self.stream, flush=True)

    def show(self, text):
        """Writes over the line that counts; an empty text removes it."""
        if self.terminal:
            self.stream.write(f"\r\033[K{text}")
            self.stream.flush()
