#!/usr/bin/python3
"""`lookout serve` beside PyTorch's Flask tutorial on waitress: requests a second, p99 at half of the
tutorial's load, memory. Interleaved rounds on the same archive and picture.

    serve.py ARCHIVE PICTURE [ROUNDS]    by default 5 rounds

Needs build/host/app/lookout, hey, python3-flask, python3-waitress, python3-torch, python3-torchvision.
"""

import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOOKOUT = ROOT / "build/host/app/lookout"
FLASK = pathlib.Path(__file__).with_name("peer_flask.py")
CLIENTS = 4
SECONDS = 4


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self, name, command, port):
        self.name = name
        self.port = port
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"serve.py: {name} has ended")

    def memory_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def close(self):
        self.process.terminate()
        self.process.wait()


def form_of(picture):
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'
    return head + pathlib.Path(picture).read_bytes() + b"\r\n--x--\r\n"


def measure(server, body, rate):
    """Requests a second and the 99th percentile in ms; at most `rate` requests a second; 0: no limit."""
    command = ["hey", "-z", f"{SECONDS}s", "-c", str(CLIENTS), "-m", "POST", "-D", body, "-o", "csv"]
    command += ["-T", "multipart/form-data; boundary=x"]
    command += ["-q", str(rate / CLIENTS)] if rate else []
    run = subprocess.run(
        [*command, f"http://127.0.0.1:{server.port}/predict"], capture_output=True, text=True
    )
    rows = [line.split(",") for line in run.stdout.splitlines()[1:]]
    if not rows or any(row[6] != "200" for row in rows):
        raise SystemExit(f"serve.py: {server.name} refuses requests: {run.stderr}")
    times = sorted(float(row[0]) for row in rows)
    return len(times) / SECONDS, times[int(len(times) * 0.99)] * 1000


def report(what, rounds):
    """`rounds`: a figure of each server in each round."""
    ratios = sorted(a / b for a, b in rounds)
    medians = [statistics.median(column) for column in zip(*rounds)]
    print(
        f"{what}: lookout {medians[0]:.1f}, Flask {medians[1]:.1f}, ratio "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )


def main():
    archive, picture = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    body = tempfile.NamedTemporaryFile()
    body.write(form_of(picture))
    body.flush()
    ports = free_port(), free_port()
    ours = [LOOKOUT, "serve", "--model", archive, "--set", f"model.workers={os.cpu_count()}"]
    servers = [
        Server("lookout", [*ours, "--set", f"http.address=127.0.0.1:{ports[0]}"], ports[0]),
        Server("Flask", ["/usr/bin/python3", FLASK, archive, str(ports[1])], ports[1]),
    ]
    try:
        for server in servers:
            measure(server, body.name, 0)  # warm
        full = [[measure(server, body.name, 0)[0] for server in servers] for _ in range(rounds)]
        half = statistics.median(flask for _, flask in full) / 2
        late = [[measure(server, body.name, half)[1] for server in servers] for _ in range(rounds)]
        memory = [server.memory_mb() for server in servers]
    finally:
        for server in servers:
            server.close()
    report("requests/s", full)
    report(f"p99 at {half:.1f}/s, ms", late)
    print(f"memory (VmHWM), MB: lookout {memory[0]:.0f}, Flask {memory[1]:.0f}")


if __name__ == "__main__":
    main()
