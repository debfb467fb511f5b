"""One run of the program on the V4L2 camera of fake_camera.h, with faults of that camera."""

import os
import re
import time

from life import SILENCE, Life
from machine import load, violated

EQUAL = 10.0  # s with equal frames, after which a camera hangs
BACK = 20.0  # s from the end of a camera's fault to its next frame, times the load


class CameraLife(Life):
    """One run on the V4L2 camera of fake_camera.cpp."""

    def prepare(self, number, folder):
        self.camera = os.path.join(folder, f"{number}.camera")
        self.fault_file = os.path.join(folder, f"{number}.fault")
        self.losses = 0
        self.whole = True  # no fault, and it was seen that there is none
        self.plug()
        environment = {
            "LD_PRELOAD": self.options.camera,
            "LOOKOUT_FAKE_CAMERA": self.camera,
            "LOOKOUT_FAKE_FAULT": self.fault_file,
        }
        arguments = [self.camera, "--set", "log.stats-interval=1h"]
        if number % 4 == 1:  # which the camera gives as MJPG only
            arguments += ["--set", "camera.width=640", "--set", "camera.height=480"]
        return arguments, environment

    def faults(self):
        faults = [self.lost, self.unplugged, self.stalled, self.same_frame, self.hiccup]
        faults += [self.resized, self.corrupt, self.short, self.empty, self.error_flag, self.gaps]
        faults += [self.frozen, self.busy_machine, self.nobody_visits]
        return faults

    def plug(self):
        os.symlink("/dev/null", self.camera)

    def set_fault(self, words):
        if words:
            self.whole = False
        with open(self.fault_file + ".new", "w", encoding="ascii") as file:
            file.write(words)
        os.rename(self.fault_file + ".new", self.fault_file)

    def lost(self, seconds):
        self.set_fault("lost")
        if self.is_away(seconds):
            self.come_back()

    def unplugged(self, seconds):
        self.set_fault("lost")
        os.unlink(self.camera)
        if self.is_away(seconds):
            self.plug()
            self.come_back()

    def stalled(self, seconds):
        self.set_fault("stalled")
        if self.is_away(seconds):
            self.come_back()

    def same_frame(self, seconds):
        """The same frame again and again: the camera is opened again, once."""
        self.set_fault("frozen")
        if self.is_away(0, EQUAL + SILENCE) and self.come_back("frozen") and self.wait(seconds):
            self.come_back()

    def hiccup(self, seconds):
        """A silence too short to be a loss."""
        self.set_fault("stalled")
        if self.wait(seconds / 10, may_be_silent=True):
            self.come_back()

    def resized(self, seconds):
        self.set_fault("lost resized")
        if not self.is_away(0):
            return
        if not self.come_back("resized") or not self.wait(seconds):
            return
        self.set_fault("lost")
        if self.is_away(0):
            self.come_back()

    def corrupt(self, seconds):
        self.spoil("corrupt", seconds)

    def short(self, seconds):
        self.spoil("short", seconds)

    def empty(self, seconds):
        self.spoil("empty", seconds)

    def error_flag(self, seconds):
        self.spoil("error", seconds)

    def gaps(self, seconds):
        self.spoil("gaps", seconds)

    def spoil(self, fault, seconds):
        self.set_fault(fault)
        if self.wait(seconds, may_be_silent=True):
            self.come_back()

    def is_away(self, seconds, within=SILENCE):
        """Waits until that is said, and some more. False: the life ends now, amid this."""
        self.losses += 1
        if not self.until(lambda: self.reader.states[-1:] == ["offline"], within, "offline"):
            return False
        return self.wait(seconds, may_be_silent=True)

    def come_back(self, fault=""):
        """Ends the fault, and waits for results. False: the life ends now, amid this."""
        before = self.reader.results
        self.set_fault(fault)

        def is_back():
            online = self.reader.states[-1:] != ["offline"]
            return online and self.reader.results > before and self.reader.label == "color bars"

        if not self.until(is_back, BACK, "back with the right result"):
            return False
        if not fault:
            self.whole = True
        return True

    def until(self, is_so, seconds, what):
        """Waits for something that has to be. False: the life ends now, amid this."""
        asked = time.monotonic()
        while self.running() and not is_so():
            if time.monotonic() - asked > seconds * load():
                violated(f"{self.name}: not {what} after {seconds * load():.0f} s")
                return True
            if not self.wait(0.1, may_be_silent=True):
                return False
        return True

    def sample(self):
        if self.whole:
            super().sample()

    def note_quiet(self):
        if self.whole:
            super().note_quiet()

    def end(self):
        super().end()
        self.totals.losses += self.losses
        states = self.reader.states
        if states != ["offline", "online"] * (len(states) // 2) + ["offline"] * (len(states) % 2):
            violated(f"{self.name}: a camera that goes and comes was {states}")
        if not self.losses - 1 <= states.count("offline") <= self.losses:
            violated(f"{self.name}: {states.count('offline')} times offline, {self.losses} losses")
        with open(self.log, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        foreign = [line for line in lines if not re.match(r"\d\d:\d\d:\d\d [a-z]+ ", line)]
        if foreign:
            violated(f"{self.name}: lines that are not of the log: {foreign[:3]}")
        lines = [line for line in lines if " mqtt: " not in line]  # the broker comes and goes, too
        if len(lines) > 3 * self.losses + 10:  # lost, back, damaged
            violated(f"{self.name}: {len(lines)} log lines for {self.losses} losses")
