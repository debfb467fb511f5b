"""Errors that end a tool with one sentence and an exit status of sysexits.h.

Needs nothing but Python 3.
"""

import os

USAGE, BAD_DATA, NO_INPUT, CANNOT_CREATE = (
    os.EX_USAGE,
    os.EX_DATAERR,
    os.EX_NOINPUT,
    os.EX_CANTCREAT,
)


class Failure(Exception):
    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status


def reason(error):
    """The text of an OSError without its number and file name, or the first line of another's."""
    text = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
    text = getattr(text, "strerror", None) or text
    return (str(text).strip() or type(error).__name__).splitlines()[0]
