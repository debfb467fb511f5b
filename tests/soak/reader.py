"""The reader of the program's results."""

import json
import os
import threading
import time

from machine import violated


class Reader(threading.Thread):
    """The reader of the program's stdout: fast, slow or asleep. Checks every line."""

    def __init__(self, fd, name):
        super().__init__(daemon=True)
        self.fd = fd
        self.life = name
        self.rate = None  # bytes a second; None: as they come; 0: none
        self.results = 0
        self.label = None  # the best of the last result
        self.states = []  # of the camera: offline, online, ...
        self.seq = -1
        self.summary = None
        self.went_back = 0.0  # s, the largest step of the time stamps to the past
        self.timestamp = 0.0
        self.inference = 0.0  # s, the longest
        self.last = time.monotonic()  # when a result came
        self.rest = b""

    def run(self):
        while True:
            rate = self.rate
            if rate == 0:
                time.sleep(0.02)
                continue
            chunk = os.read(self.fd, 65536 if rate is None else max(1, rate // 20))
            if not chunk:
                return
            *lines, self.rest = (self.rest + chunk).split(b"\n")
            for line in lines:
                self.take(line)
            if rate is not None:
                time.sleep(0.05)

    def take(self, line):
        try:
            value = json.loads(line)
        except ValueError:
            violated(f"{self.life}: a line that is no JSON: {line[:200]!r}")
            return
        if value["type"] == "summary":
            self.summary = value
        if value["type"] == "status":
            self.states.append(value["state"])
        if value["type"] != "classification":
            return
        if value["seq"] <= self.seq:
            violated(f"{self.life}: frame {value['seq']} came after {self.seq}")
        if value["frame_age_ms"] < 0:
            violated(f"{self.life}: frame {value['seq']} is from the future")
        self.seq = value["seq"]
        self.results += 1
        self.label = value["results"][0]["label"]
        self.went_back = max(self.went_back, self.timestamp - value["timestamp"])
        self.timestamp = value["timestamp"]
        self.inference = max(self.inference, value["timing_ms"]["inference"] / 1000)
        self.last = time.monotonic()
