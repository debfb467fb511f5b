"""A board that never was: a server whose /metrics has the names of lookout's, and known figures."""

import http.server
import threading
import time

# Durations of all stages: nine tenths of 20 to 30 ms, the rest of 50 to 75 ms; so the 95th percentile,
# by interpolation, is 62.5 ms.
BUCKETS = {"0.02": 0, "0.03": 0.9, "0.05": 0.9, "0.075": 1, "+Inf": 1}
P95 = 0.0625
STATES = {"open": 0.25, "closed": 0.75, "ajar": 0.0}  # shares of the time
MEAN = 0.9 * 0.025 + 0.1 * 0.0625


class StandIn:
    """`operators`: seconds a frame by name."""

    def __init__(
        self, token, operators, fps=30.0, camera_fps=30.0, camera_up=1, throttled=0, guesses=0.0, busy=0.0,
        restarts=0.0, broker=1, sha256="0123456789ab",
    ):  # fmt: skip
        self.operators = operators
        self.fps = fps
        self.camera_fps = camera_fps
        self.camera_up = camera_up
        self.throttled = throttled
        self.restarts = restarts  # a second
        self.broker = broker
        self.sha256 = sha256
        self.rejected = {"wrong_token": guesses, "busy": busy}  # a second
        self.started = time.time()
        board = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                allowed = self.headers["Authorization"] == f"Bearer {token}"
                body = board.text().encode() if allowed else b"no\n"
                self.send_response(200 if allowed else 401)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.address = f"127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def text(self):
        """Each value has its time, which lookout leaves out: so rates are exact on a busy machine."""
        now = time.time()
        lines = []
        for name, kind, rows in self.metrics(now - self.started):
            lines.append(f"# TYPE {name} {kind}")
            lines += [
                f'{name}{suffix}{{camera="front"{labels}}} {value} {now * 1000:.0f}'
                for suffix, labels, value in rows
            ]
        return "\n".join(lines) + "\n"

    def metrics(self, seconds):
        """Name, type and rows of each: suffix, labels, value."""
        frames = self.fps * seconds
        yield "lookout_build_info", "gauge", [("", ',version="0",library="0",opencv="0"', 1)]
        yield "lookout_model_info", "gauge", [("", f',model="net",sha256="{self.sha256}"', 1)]
        yield "lookout_camera_up", "gauge", [("", "", self.camera_up)]
        yield "lookout_mqtt_connected", "gauge", [("", "", self.broker)]
        start = self.started + int(seconds * self.restarts)
        yield "process_start_time_seconds", "gauge", [("", "", start)]
        yield (
            "lookout_state_seconds_total",
            "counter",
            [("", f',state="{state}"', share * seconds) for state, share in STATES.items()],
        )
        yield (
            "lookout_results_total",
            "counter",
            [("", f',certainty="{each}"', share * frames) for each, share in (("sure", 0.9), ("unsure", 0.1))],
        )
        yield "lookout_frames_captured_total", "counter", [("", "", self.camera_fps * seconds)]
        yield "lookout_frames_classified_total", "counter", [("", "", frames)]
        yield "lookout_frames_dropped_total", "counter", [("", "", self.camera_fps * seconds - frames)]
        yield (
            "lookout_throttled",
            "gauge",
            [("", f',reason="throttled",when="{when}"', self.throttled) for when in ("now", "boot")],
        )
        yield "lookout_soc_temperature_celsius", "gauge", [("", "", 55.5)]
        yield "lookout_stage_duration_seconds", "histogram", durations(frames, ',stage="inference"')
        yield "lookout_frame_age_seconds", "histogram", durations(frames, "")
        yield (
            "lookout_operator_self_seconds_total",
            "counter",
            [("", f',operator="{name}"', each * frames) for name, each in self.operators.items()],
        )
        yield from self.http_metrics(seconds)

    def http_metrics(self, seconds):
        yield "lookout_http_requests_total", "counter", [("", ',route="/predict",code="200"', 2 * seconds)]
        yield (
            "lookout_http_request_duration_seconds",
            "histogram",
            durations(2 * seconds, ',route="/predict"'),
        )
        yield (
            "lookout_http_rejected_total",
            "counter",
            [("", f',reason="{reason}"', rate * seconds) for reason, rate in self.rejected.items()],
        )
        yield "lookout_http_clients", "gauge", [("", "", 3)]
        yield "lookout_predict_queue_length", "gauge", [("", "", 1)]
        yield "lookout_stream_frames_total", "counter", [("", ',kind="sent"', 10 * seconds)]


def durations(count, labels):
    rows = [("_bucket", f'{labels},le="{bound}"', part * count) for bound, part in BUCKETS.items()]
    return [*rows, ("_sum", labels, MEAN * count), ("_count", labels, count)]
