"""Home Assistant in a root of its own (make-root.sh), with its MQTT integration set up through its API."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mqtt"))
from house import free_port  # noqa: E402

LIMIT = 240  # s: it starts slowly on a busy machine
CLIENT = "http://127.0.0.1/"
CONFIGURATION = """\
http:
  server_host: 127.0.0.1
  server_port: {port}
frontend:
config:
automation: !include automations.yaml
counter:
  changes:
input_text:
  last:
logger:
  default: warning
"""
# That of deploy/house.md, with what can be looked at in place of a notification.
AUTOMATIONS = """\
- alias: A change
  triggers:
    - trigger: state
      entity_id: event.front_change
      not_from: unavailable
      not_to: unavailable
  conditions:
    - "{{ trigger.to_state is not none }}"
  actions:
    - action: counter.increment
      target:
        entity_id: counter.changes
    - action: input_text.set_value
      target:
        entity_id: input_text.last
      data:
        value: "{{ trigger.to_state.attributes.state }}"
"""


def environment():
    """With what it needs to install packages of its integrations, once."""
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    return {
        **proxies,
        "PATH": "/srv/ha/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
    }


class HomeAssistant:
    def __init__(self, root):
        self.root = root
        self.folder = tempfile.mkdtemp(dir=pathlib.Path(root) / "srv", prefix="config-")
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}/"
        self.token = None
        self.process = None
        folder = pathlib.Path(self.folder)
        text = CONFIGURATION.format(port=self.port)
        (folder / "configuration.yaml").write_text(text, encoding="ascii")
        (folder / "automations.yaml").write_text(AUTOMATIONS, encoding="ascii")
        self.start()

    def start(self):
        inside = "/" + os.path.relpath(self.folder, self.root)
        script = (
            f"mount -t proc proc {self.root}/proc; mount --rbind /dev {self.root}/dev; "
            f"exec chroot {self.root} /srv/ha/bin/hass -c {inside}"
        )
        self.process = subprocess.Popen(
            ["unshare", "--mount", "sh", "-ec", script],
            env=environment(),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        self.wait("its start", self.answers)

    def answers(self):
        try:
            self.ask("GET", "manifest.json")
            return True
        except OSError:
            return False

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(LIMIT)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        return (pathlib.Path(self.folder) / "home-assistant.log").read_text(encoding="utf-8")

    def wait(self, what, condition, seconds=LIMIT):
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come; the log:\n" + self.log()[-3000:])
            if self.process.poll() is not None:
                raise AssertionError("Home Assistant has ended; its log:\n" + self.log()[-3000:])
            time.sleep(0.3)
        return found

    def ask(self, method, path, body=None, form=None):
        data = None
        headers = {}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if form is not None:
            data = "&".join(f"{key}={value}" for key, value in form.items()).encode()
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            content = answer.read()
        return json.loads(content) if content[:1] in b"[{" else content

    def set_up(self, broker_port):
        """Makes a user, and connects to the broker."""
        user = {"client_id": CLIENT, "name": "me", "username": "me", "password": "me", "language": "en"}
        code = self.wait("onboarding", lambda: self.try_ask("POST", "api/onboarding/users", user))
        form = {"grant_type": "authorization_code", "code": code["auth_code"], "client_id": CLIENT}
        self.token = self.ask("POST", "auth/token", form=form)["access_token"]
        for step in ("core_config", "analytics"):
            self.ask("POST", f"api/onboarding/{step}", {})
        self.ask("POST", "api/onboarding/integration", {"client_id": CLIENT, "redirect_uri": CLIENT})
        flow = self.ask("POST", "api/config/config_entries/flow", {"handler": "mqtt"})
        broker = {"broker": "127.0.0.1", "port": broker_port}
        done = self.ask("POST", f"api/config/config_entries/flow/{flow['flow_id']}", broker)
        if done["type"] != "create_entry":
            raise AssertionError(f"no MQTT: {done}")

    def try_ask(self, *arguments):
        try:
            return self.ask(*arguments)
        except urllib.error.HTTPError:
            return None

    def states(self):
        """The states by entity."""
        return {state["entity_id"]: state for state in self.ask("GET", "api/states")}

    def state(self, entity):
        return self.states().get(entity, {}).get("state")

    def template(self, text):
        """What Home Assistant makes of a template."""
        return self.ask("POST", "api/template", {"template": "=" + text}).decode()[1:]

    def wait_for(self, entity, state):
        try:
            self.wait(f"{entity} {state}", lambda: self.state(entity) == state)
        except AssertionError as error:
            raise AssertionError(f"{entity} is {self.state(entity)}; {error}") from error

    def call(self, service, **data):
        self.ask("POST", f"api/services/{service.replace('.', '/')}", data)
