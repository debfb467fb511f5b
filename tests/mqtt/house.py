"""A house for tests: the broker mosquitto with certificates of its own, clients, and runs of lookout."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import urllib.request

import paho.mqtt.client as mqtt

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOKOUT = ROOT / "build/host/app/lookout"
# LOOKOUT_MOSQUITTO: another command.
MOSQUITTO = os.environ.get("LOOKOUT_MOSQUITTO", "/usr/sbin/mosquitto").split()
FRONT = "lookout/front/"
LIMIT = 60  # s, for what should come soon
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "LOOKOUT_MOSQUITTO"}

if not os.path.exists(MOSQUITTO[0]):
    raise ImportError(f"there is no {MOSQUITTO[0]}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def metrics_at(port):
    """What a run tells Prometheus."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=LIMIT) as answer:
        return answer.read().decode()


class Broker:
    """mosquitto on a port of the loopback interface; `settings` are lines of its configuration."""

    def __init__(self, *settings, port=None, unix=None, anonymous=True):
        self.folder = tempfile.TemporaryDirectory()
        self.port = port or free_port()
        listener = f"listener 0 {unix}" if unix else f"listener {self.port} 127.0.0.1"
        self.conf = pathlib.Path(self.folder.name) / "mosquitto.conf"
        lines = [listener, f"allow_anonymous {str(anonymous).lower()}", "user root", *settings]
        self.conf.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.process = None
        self.reader = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [*MOSQUITTO, "-c", self.conf], stderr=subprocess.PIPE, text=True
        )
        for line in self.process.stderr:
            if line.rstrip().endswith("running"):
                break
        else:
            raise AssertionError("mosquitto did not start")
        self.reader = threading.Thread(target=self.process.stderr.read)
        self.reader.start()

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()

    def pause(self, paused):
        self.process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def close(self):
        self.kill()
        self.folder.cleanup()


class Listener:
    """Keeps every message of a broker."""

    def __init__(self, port, topic="#"):
        self.messages = []
        self.told = threading.Condition()
        self.client = mqtt.Client(protocol=mqtt.MQTTv5)
        subscribed = threading.Event()
        self.client.on_message = lambda _client, _data, message: self.add(message)
        self.client.on_subscribe = lambda *_: subscribed.set()
        self.client.connect("127.0.0.1", port)
        options = mqtt.SubscribeOptions(qos=1, retainAsPublished=True)
        self.client.subscribe(topic, options=options)
        self.client.loop_start()
        assert subscribed.wait(LIMIT)

    def add(self, message):
        with self.told:
            self.messages.append(message)
            self.told.notify_all()

    def of(self, topic):
        with self.told:
            return [message for message in self.messages if message.topic == topic]

    def payloads(self, topic):
        return [message.payload.decode() for message in self.of(topic)]

    def wait(self, what, condition):
        """Until the condition, of this listener, is true."""
        with self.told:
            if not self.told.wait_for(lambda: condition(self), LIMIT):
                topics = sorted({message.topic for message in self.messages})
                raise AssertionError(f"{what} did not come; topics: {topics}")

    def wait_for(self, topic, payload):
        self.wait(f"{topic} {payload}", lambda me: me.payloads(topic)[-1:] == [payload])

    def publish(self, topic, payload, retain=False):
        self.client.publish(topic, payload, 1, retain).wait_for_publish(LIMIT)

    def forget(self):
        with self.told:
            self.messages.clear()

    def close(self):
        self.client.loop_stop()
        self.client.disconnect()


def retained(port, seconds=0.5):
    """What a broker has retained: payloads by topic."""
    listener = Listener(port)
    with listener.told:
        listener.told.wait_for(lambda: False, seconds)
    found = {message.topic: message.payload for message in listener.messages if message.retain}
    listener.close()
    return found


# Of a command whose first argument is a file: it is its /etc/machine-id.
WITH_ID = ["unshare", "--map-root-user", "--mount", "sh", "-ec", 'mount --bind "$0" /etc/machine-id; exec "$@"']


def can_have_an_id():
    """Whether a run can have another machine's id."""
    return subprocess.run([*WITH_ID, "/dev/null", "true"], capture_output=True).returncode == 0


class Run:
    """A run of the program, whose log is read as it comes. `machine_id`: a file."""

    def __init__(
        self, url, *options, source="test://all?hold=6", environment=None, machine_id=None, name="front"
    ):
        self.log = []
        self.told = threading.Condition()
        self.process = subprocess.Popen(
            [*([*WITH_ID, machine_id] if machine_id else []), LOOKOUT, "run", source, "--config", "", "--mqtt", url, "--threads", "1",
             "--set", f"camera.name={name}", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env={**ENVIRONMENT, "LOOKOUT_LOG_STATS_INTERVAL": "10s", **(environment or {})},
        )  # fmt: skip
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            with self.told:
                self.log.append(line.strip())
                self.told.notify_all()
        with self.told:
            self.told.notify_all()

    def count(self, part):
        with self.told:
            return sum(part in line for line in self.log)

    def wait_for(self, part, times=1):
        with self.told:
            found = self.told.wait_for(lambda: self.count(part) >= times, LIMIT)
        if not found:
            raise AssertionError(f"'{part}' was not logged; the log:\n" + "\n".join(self.log))

    def memory(self):
        """Resident, in MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        self.process.wait(LIMIT)
        self.reader.join()
        self.process.stderr.close()
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.stop(signal.SIGKILL)


class Server:
    """Takes connections, reads, and says nothing."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.taken = []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        with contextlib.suppress(OSError):
            while True:
                self.taken.append(self.socket.accept()[0])

    def close(self):
        for connection in self.taken:
            connection.close()
        self.socket.close()


class Proxy:
    """Forwards connections to a port of this machine, until they are cut."""

    def __init__(self, port):
        self.target = port
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connected, self.cut_off = [], []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.socket.accept()[0]
                broker = socket.create_connection(("127.0.0.1", self.target))
                for pair in ((client, broker), (broker, client)):
                    self.connected.append(pair)
                    threading.Thread(target=self.forward, args=pair, daemon=True).start()

    def forward(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if (source, target) not in self.cut_off:
                    target.sendall(data)

    def cut(self):
        """What is sent on the present connections is lost; neither end is told."""
        self.cut_off = list(self.connected)

    def close(self):
        self.socket.close()
        for source, _ in self.connected:
            source.close()


def openssl(folder, *arguments):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make_certificates(folder):
    """ca.pem, other-ca.pem, and server, client (.pem, .key) of the first, the server for localhost."""
    for ca in ("ca", "other-ca"):
        openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
                f"/CN={ca}", "-keyout", f"{ca}.key", "-out", f"{ca}.pem")  # fmt: skip
    names = pathlib.Path(folder) / "names"
    names.write_text("subjectAltName=DNS:localhost\n", encoding="ascii")
    for name in ("server", "client"):
        openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout",
                f"{name}.key", "-out", f"{name}.csr")  # fmt: skip
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "2", "-extfile", names, "-out", f"{name}.pem")  # fmt: skip


def lookout(*arguments):
    return subprocess.run(
        [LOOKOUT, *arguments, "--config", ""], capture_output=True, text=True, timeout=LIMIT, check=False
    )


class HouseTest(unittest.TestCase):
    """With things that are closed at the end."""

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def use(self, thing):
        return self.stack.enter_context(contextlib.closing(thing))

    def broker(self, *settings, **options):
        return self.use(Broker(*settings, **options))

    def run_on(self, broker, *options, **more):
        return self.use(Run(f"mqtt://127.0.0.1:{broker.port}", *options, **more))

    def folder(self):
        return self.stack.enter_context(tempfile.TemporaryDirectory())

    def connected(self, *options, **more):
        """A broker, its listener and a run that has published a state."""
        broker = self.broker()
        listener = self.use(Listener(broker.port))
        run = self.run_on(broker, *options, **more)
        listener.wait("a state", lambda me: me.of(FRONT + "state"))
        return broker, listener, run
