"""An MQTT broker, a real mosquitto, that comes and goes while the program runs."""

import collections
import pathlib
import random
import signal
import sys
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "mqtt"))
try:
    import house
except ImportError:  # there is no mosquitto
    house = None

STOP = 1.0  # s that the program waits for a broker at its end
GROWTH_KB = 4096  # of messages that wait for a broker that stalls, and what their sending takes
SOCKETS = 3  # of a connection: its own, and the pair by which libmosquitto wakes itself


class Broker:
    """Listens on the Unix socket `path`; a thread starts, stalls and ends it."""

    def __init__(self, path, seed):
        self.broker = house.Broker(unix=path)
        self.random = random.Random(seed)
        self.faults = collections.Counter()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    @staticmethod
    def exists():
        return house is not None

    def run(self):
        while not self.over.wait(self.random.uniform(1, 20)):
            fault = self.random.choice((self.stopped, self.killed, self.stalled))
            self.faults[f"broker {fault.__name__}"] += 1
            fault()

    def stopped(self):
        self.be_away(signal.SIGTERM)

    def killed(self):
        self.be_away(signal.SIGKILL)

    def be_away(self, number):
        self.broker.kill(number)
        self.over.wait(self.random.uniform(0, 10))
        self.broker.start()

    def stalled(self):
        self.broker.pause(True)
        self.over.wait(self.random.uniform(1, 30))
        self.broker.pause(False)

    def end(self):
        self.over.set()
        self.thread.join()
        self.broker.close()
