#!/usr/bin/python3
"""Several copies of `lookout serve` behind nginx: requests a second, p99, refusals and memory, in interleaved rounds.

    balanced.py ARCHIVE PICTURE [COPIES...]    by default 1 2 4

Each copy has one thread. nginx asks another one when a copy is busy, as ingress-nginx does with
deploy/kubernetes.yaml. Needs build/host/app/lookout, hey and nginx.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile

import serve

sys.path.append(str(serve.ROOT / "tests/network"))
import nginx  # noqa: E402

ROUNDS = 5
CLIENTS = 8
CONFIG = nginx.SERVER.replace(
    "  server {{", "  upstream copies {{ least_conn; {copies} }}\n  server {{"
)
LOCATION = (
    "client_max_body_size 8m; location / { proxy_pass http://copies; proxy_set_header Host localhost; "
    "proxy_next_upstream error timeout http_503 non_idempotent; }"
)


class Balanced:
    """`count` copies and their nginx, all running."""

    def __init__(self, archive, count):
        self.name = f"{count} copies"
        self.folder = tempfile.TemporaryDirectory()
        ports = [serve.free_port() for _ in range(count)]
        command = [serve.LOOKOUT, "serve", "--model", archive, "--threads", "1"]
        self.copies = [
            serve.Server(f"copy {port}", [*command, "--set", f"http.address=127.0.0.1:{port}"], port)
            for port in ports
        ]
        self.port = serve.free_port()
        config = pathlib.Path(self.folder.name, "nginx.conf")
        config.write_text(
            CONFIG.format(
                folder=self.folder.name, port=self.port, location=LOCATION,
                copies=" ".join(f"server 127.0.0.1:{port};" for port in ports),
            )
        )  # fmt: skip
        self.proxy = serve.Server("nginx", [nginx.PROGRAM, "-c", config], self.port)

    def memory_mb(self):
        return sum(copy.memory_mb() for copy in self.copies)

    def close(self):
        self.proxy.close()
        for copy in self.copies:
            copy.close()
        self.folder.cleanup()


def measure(balanced, body):
    """Answers a second, their p99 in ms, and the share of requests that were refused."""
    run = subprocess.run(
        ["hey", "-z", f"{serve.SECONDS}s", "-c", str(CLIENTS), "-m", "POST", "-D", body, "-o", "csv",
         "-T", "multipart/form-data; boundary=x", f"http://127.0.0.1:{balanced.port}/predict"],
        capture_output=True, text=True,
    )  # fmt: skip
    rows = [line.split(",") for line in run.stdout.splitlines()[1:]]
    times = sorted(float(row[0]) for row in rows if row[6] == "200")
    if not times or any(row[6] not in ("200", "503") for row in rows):
        raise SystemExit(f"balanced.py: {balanced.name} fails: {run.stdout[:500]}{run.stderr}")
    return len(times) / serve.SECONDS, times[int(len(times) * 0.99)] * 1000, 1 - len(times) / len(rows)


def main():
    archive, picture = sys.argv[1:3]
    counts = [int(word) for word in sys.argv[3:]] or [1, 2, 4]
    with tempfile.NamedTemporaryFile() as body:
        body.write(serve.form_of(picture))
        body.flush()
        every = [Balanced(archive, count) for count in counts]
        try:
            for balanced in every:
                measure(balanced, body.name)  # warm
            rounds = [[measure(balanced, body.name) for balanced in every] for _ in range(ROUNDS)]
            memory = [balanced.memory_mb() for balanced in every]
        finally:
            for balanced in every:
                balanced.close()
    for i, balanced in enumerate(every):
        rate, p99, refused = (statistics.median(column) for column in zip(*(one[i] for one in rounds)))
        ratios = sorted(one[i][0] / one[0][0] for one in rounds)
        print(
            f"{balanced.name}: {rate:.1f} answers/s ({ratios[0]:.2f} to {ratios[-1]:.2f} of the first), "
            f"p99 {p99:.0f} ms, {refused:.0%} refused, {memory[i]:.0f} MB"
        )


if __name__ == "__main__":
    main()
