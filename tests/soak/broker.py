"""An MQTT broker, a real mosquitto, that comes and goes while the program runs."""

import collections
import os
import random
import signal
import subprocess
import threading

MOSQUITTO = "/usr/sbin/mosquitto"
STOP = 1.0  # s that the program waits for a broker at its end
GROWTH_KB = 4096  # of messages that wait for a broker that stalls, and what their sending takes
SOCKETS = 3  # of a connection: its own, and the pair by which libmosquitto wakes itself


class Broker:
    """Listens on the Unix socket `path`; a thread starts, stalls and kills it."""

    def __init__(self, path, seed):
        self.path = path
        self.random = random.Random(seed)
        self.faults = collections.Counter()
        self.process = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        with open(f"{path}.conf", "w", encoding="ascii") as conf:
            conf.write(f"listener 0 {path}\nallow_anonymous true\nuser root\n")
        self.thread.start()

    @staticmethod
    def exists():
        return os.path.exists(MOSQUITTO)

    def start(self):
        self.process = subprocess.Popen([MOSQUITTO, "-c", f"{self.path}.conf"], stderr=subprocess.DEVNULL)

    def end_process(self, number):
        self.process.send_signal(number)
        self.process.wait()
        self.process = None

    def run(self):
        while not self.over.is_set():
            if self.process is None:
                self.start()
            self.over.wait(self.random.uniform(1, 20))
            fault = self.random.choice((self.stopped, self.killed, self.stalled))
            self.faults[f"broker {fault.__name__}"] += 1
            fault()
            self.over.wait(self.random.uniform(0, 10))
        if self.process:
            self.end_process(signal.SIGKILL)

    def stopped(self):
        self.end_process(signal.SIGTERM)

    def killed(self):
        self.end_process(signal.SIGKILL)

    def stalled(self):
        self.process.send_signal(signal.SIGSTOP)
        self.over.wait(self.random.uniform(1, 30))
        self.process.send_signal(signal.SIGCONT)

    def end(self):
        self.over.set()
        self.thread.join()
