"""A folder of a history with rows that a test knows, as a run of the program left it."""

import contextlib
import os
import pathlib
import re
import sqlite3

from lookout import ROOT

MODEL = "gate.pt"


def read_schema():
    """That of the program."""
    source = pathlib.Path(ROOT, "platform/history/history_store.cpp").read_text(encoding="utf-8")
    return re.search(r'kCreate = R"\((.*?)\)"', source, re.DOTALL)[1]


def write_history(folder, changes):
    """`changes`: watch, time (s), state (None: it is not known), and a JPEG or None; numbered from 1 on. The run
    was seen last at the last of them."""
    with contextlib.closing(sqlite3.connect(os.path.join(folder, "history.db"))) as database, database:
        database.executescript("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;" + read_schema())

        def id_of(table, text):
            database.execute(f"INSERT OR IGNORE INTO {table}(text) VALUES(?)", (text,))
            return database.execute(f"SELECT id FROM {table} WHERE text = ?", (text,)).fetchone()[0]

        for number, (watch, at, state, jpeg) in enumerate(changes, 1):
            if jpeg:
                file = pathlib.Path(folder, "pictures", str(number // 1000), f"{number}.jpg")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(jpeg)
            row = (id_of("watch", watch), round(at * 1000), number, state and id_of("name", state), 875,
                   id_of("name", MODEL), len(jpeg or b""))  # fmt: skip
            database.execute("INSERT INTO change VALUES(?, ?, ?, ?, ?, ?, ?)", row)
        database.execute("INSERT INTO seen VALUES(0, ?)", (round(max(at for _, at, _, _ in changes) * 1000),))
