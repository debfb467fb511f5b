"""A stand-in for lookout's server where somebody teaches: the page's files, a drawn garage door as the live
picture, and the API, which keeps what is taught in memory.

    teach_server.py [PORT]    serves until it is stopped; the password is "garage door"

No clock decides anything: a hold keeps a picture with each request, and a training goes on by a quarter
each time that somebody asks for it.
"""

import copy
import functools
import http.server
import io
import json
import os
import re
import sys
import threading
import time
import urllib.parse
from collections import Counter

from PIL import Image, ImageDraw

PAGES = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../platform/http/pages"
)
TYPES = {
    "css": "text/css",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webmanifest": "application/manifest+json",
}
POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
PASSWORD = "garage door"
NONE = "_other"
ENOUGH = 5  # pictures of a class
ALWAYS_KEPT = 5  # of a hold; of the others, every second one is too similar
DAY = "2025-11-28"
STARTED = 1764324000  # 10:00 UTC of that day, of the first picture
FPS = 12.5  # of the camera


class Refused(Exception):
    """`about`: the name or the number that the message is about; None: the answer has none."""

    def __init__(self, status, code, message, about=None):
        super().__init__(message)
        self.status, self.code, self.message, self.about = status, code, message, about


def iso(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@functools.lru_cache
def draw(door, night=False, size=(640, 480), number=0):
    """A house with a garage door that is "open", "closed", or behind a van."""
    light = 0.35 if night else 1.0

    def tone(*color):
        return tuple(int(part * light) for part in color)

    picture = Image.new("RGB", (640, 480), tone(150, 190, 225))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 330, 640, 480), tone(120, 118, 115))
    pen.rectangle((80, 120, 560, 360), tone(205, 190, 165))
    pen.polygon(((50, 120), (320, 30), (590, 120)), tone(130, 70, 60))
    pen.rectangle((190, 190, 450, 360), tone(40, 42, 48) if door == "open" else tone(235, 235, 230))
    if door == "closed":
        for y in range(215, 360, 28):
            pen.line((190, y, 450, y), tone(170, 170, 165), 3)
    if door == NONE:
        pen.rectangle((210, 230, 520, 380), tone(180, 50, 45))
    pen.ellipse((600 - number % 200, 60, 620 - number % 200, 70), tone(250, 250, 250))
    data = io.BytesIO()
    picture.resize(size).save(data, "JPEG")
    return data.getvalue()


def progress_of(label, pictures):
    return {
        "label": label,
        "pictures": len(pictures),
        "night": sum(picture["night"] for picture in pictures),
        "occasions": len({picture["hold"] for picture in pictures}),
        "hours": sorted({time.gmtime(picture["at"]).tm_hour for picture in pictures}),
    }


def missing_of(classes):
    missing = []
    for entry in classes:
        if entry["pictures"] < ENOUGH:
            missing.append({"kind": "pictures", "label": entry["label"], "count": ENOUGH - entry["pictures"]})
        if entry["occasions"] == 1:
            missing.append({"kind": "occasion", "label": entry["label"], "count": 0})
    return missing


class Taught:
    """What the server knows. Methods answer the API's requests; each raises Refused."""

    def __init__(self):
        self.watches = {}
        self.removed = {}
        self.models = {}  # by watch: those in use, before and trained
        self.pictures = {}
        self.holds = {}
        self.hold = None
        self.job = None
        self.scene = "closed"
        self.lead = 0.3  # of the preview
        self.preview_problem = ""
        self.next = 1
        self.now = STARTED
        self.fixed = ["gate2"]
        self.events = []  # of the history, newest first
        self.damage = ""
        self.interval = (0.1, 0.03)  # of a model's result: below its share, and above

    # ---- watches ----

    def watch(self, name):
        if name not in self.watches:
            raise Refused(404, "not_found", f"there is no watch '{name}'")
        return self.watches[name]

    def labelled(self, name):
        return [p for p in self.pictures.values() if p["watch"] == name and p["label"] and not p["trashed"]]

    def progress(self, watch):
        own = self.labelled(watch["name"])
        labels = [label for label in [*watch["classes"], NONE] if label != NONE or any(p["label"] == NONE for p in own)]
        classes = [progress_of(label, [p for p in own if p["label"] == label]) for label in labels]
        missing = missing_of([entry for entry in classes if entry["label"] != NONE])
        can_train = not any(one["kind"] == "pictures" for one in missing)
        can_tell = not missing
        if own and not any(p["night"] for p in own):
            missing.append({"kind": "night", "label": "", "count": 0})
        return {"classes": classes, "missing": missing, "can_train": can_train, "can_tell": can_tell}

    def tell(self, watch):
        models = self.models.get(watch["name"], {})
        told = {key: models.get(key) for key in ("model", "previous", "trained")}
        told["models"] = models.get("kept", [])
        own = [p for p in self.pictures.values() if p["watch"] == watch["name"] and not p["trashed"]]
        unlabelled = [p for p in own if not p["label"]]
        return {**watch, "progress": self.progress(watch), "unlabelled": len(unlabelled), **told}

    def all(self):
        if self.job and self.job["state"] == "running":
            self.advance()
        used = len(self.pictures)
        return {
            "watches": [self.tell(watch) for watch in self.watches.values()],
            "usage": {"pictures": used, "bytes": used * 65_000},
            "limits": {"watches": 8, "classes": 8, "pictures": 2000},
            "hold": self.hold,
            "job": self.job,
            "fixed": self.fixed,
            "damage": self.damage,
        }

    def add_watch(self, sent):
        name = sent["name"]
        if name in self.watches or name in self.fixed:
            raise Refused(409, "exists", f"there is a watch '{name}' already")
        if len(sent["classes"]) < 2:
            raise Refused(422, "invalid", "a watch has two classes at least")
        self.check_title(name, sent.get("title", ""))
        watch = {"name": name, "title": sent.get("title", ""), "roi": sent["roi"]}
        self.watches[name] = {**watch, "classes": sent["classes"], "revision": 1}
        return self.tell(self.watches[name])

    def check_title(self, name, title):
        if any(other["title"] == title for other in self.watches.values() if other["name"] != name):
            raise Refused(409, "title_exists", f"there is a watch called '{title}' already")

    def change_watch(self, name, sent):
        watch = self.watch(name)
        self.check_title(name, sent.get("title", watch["title"]))
        if sent["revision"] != watch["revision"]:
            raise Refused(409, "changed", "somebody else changed the watch meanwhile")
        for gone in set(watch["classes"]) - set(sent.get("classes", watch["classes"])):
            if any(p["label"] == gone for p in self.labelled(name)):
                raise Refused(422, "invalid", f"the class '{gone}' has pictures")
        watch.update({key: sent[key] for key in ("title", "roi", "classes") if key in sent})
        watch["revision"] += 1
        return self.tell(watch)

    def rename_class(self, name, sent):
        watch = self.watch(name)
        if sent["to"] in watch["classes"]:
            raise Refused(409, "exists", f"there is a class '{sent['to']}' already")
        watch["classes"] = [sent["to"] if label == sent["from"] else label for label in watch["classes"]]
        for picture in self.pictures.values():
            if picture["watch"] == name and picture["label"] == sent["from"]:
                picture["label"] = sent["to"]
        watch["revision"] += 1
        return self.tell(watch)

    def remove_watch(self, name):
        self.removed[name] = self.watch(name)
        del self.watches[name]

    def restore_watch(self, name):
        self.watches[name] = self.removed.pop(name)
        return self.tell(self.watches[name])

    # ---- holds and pictures ----

    def begin_hold(self, name, sent):
        self.watch(name)
        if self.hold and self.hold["held"]:
            raise Refused(409, "held", "another hold has not ended")
        number = len(self.holds) + 1
        status = {"number": number, "watch": name, "label": sent["class"], "held": True, "kept": 0}
        self.hold = self.holds[number] = {**status, "similar": 0, "problem": "", "why": ""}
        return self.take()

    def take(self):
        hold = self.hold
        seen = hold["kept"] + hold["similar"]
        if seen >= ALWAYS_KEPT and seen % 2:
            hold["similar"] += 1
        else:
            hold["kept"] += 1
            self.add_picture(hold["watch"], hold["label"], hold["number"])
        return dict(hold)

    def renew_hold(self, number):
        if number not in self.holds:
            raise Refused(404, "not_found", f"there is no hold {number}")
        return self.take() if self.holds[number]["held"] else dict(self.holds[number])

    def end_hold(self, number):
        self.holds[number]["held"] = False
        return dict(self.holds[number])

    def add_picture(self, watch, label, hold=0, night=False, **more):
        number = self.next
        self.next += 1
        self.now += 1
        picture = {"number": number, "watch": watch, "label": label, "at": self.now, "night": night, "hold": hold}
        other = {"time": iso(self.now), "origin": "held", "guess": "", "revision": 1, "trashed": False}
        self.pictures[number] = {**picture, **other, "scene": label or "open", **more}
        return number

    def list_pictures(self, query):
        limit, before = int(query.get("limit", 100)), int(query.get("before", 0))
        wanted = []
        for picture in sorted(self.pictures.values(), key=lambda one: -one["number"]):
            is_asked = (
                picture["watch"] == query["watch"]
                and picture["trashed"] == ("trash" in query)
                and query.get("class") in (None, picture["label"])
                and not ("unlabelled" in query and picture["label"])
                and query.get("origin") in (None, picture["origin"])
                and (not before or picture["number"] < before)
            )
            if is_asked:
                wanted.append({key: value for key, value in picture.items() if key not in ("at", "hold", "scene")})
        more = len(wanted) > limit
        return {"pictures": wanted[:limit], "next": wanted[limit - 1]["number"] if more else None}

    def mark(self, sent):
        undo = []
        for wanted in sent["marks"]:
            if wanted["revision"] not in (0, self.pictures[wanted["number"]]["revision"]):
                raise Refused(409, "changed", "somebody else changed a picture meanwhile")
        for wanted in sent["marks"]:
            picture = self.pictures[wanted["number"]]
            before = {key: picture[key] for key in ("number", "label", "trashed")}
            picture.update(label=wanted["label"], trashed=wanted["trashed"])
            picture["revision"] += 1
            undo.append({**before, "revision": picture["revision"]})
        return {"undo": undo}

    # ---- the history ----

    def add_event(self, watch, state, picture=True):
        self.now += 60
        event = {"number": len(self.events) + 1, "at": self.now, "watch": watch, "state": state, "picture": picture}
        self.events.insert(0, {**event, "previous": None, "score": 0.9, "model": "head"})
        return event["number"]

    def timeline(self, query):
        """As HistoryReader::timeline()."""
        begin, end = float(query["from"]), float(query["to"])
        changes = []
        for watch in sorted({event["watch"] for event in self.events}):
            own = [event for event in reversed(self.events) if event["watch"] == watch]
            changes += [event for event in own if event["at"] <= begin][-1:]
            changes += [event for event in own if begin < event["at"] < end]
        known = {"known_until": time.time(), "complete_since": None, "next": None}
        return {"from": begin, "to": end, **known, "changes": changes}

    def event(self, number):
        return next(event for event in self.events if event["number"] == number)

    def teach_event(self, name, sent):
        event = self.event(sent["event"])
        known = [p for p in self.pictures.values() if p["origin"] == "event" and p["at"] == event["at"]]
        number = known[0]["number"] if known else self.add_picture(
            name, "", origin="event", at=event["at"], time=iso(event["at"])
        )
        picture = self.pictures[number]
        picture.update(label=sent["class"], trashed=False)
        return {key: value for key, value in picture.items() if key not in ("at", "hold", "scene")}

    # ---- training ----

    def train(self, name):
        if self.job and self.job["state"] == "running":
            raise Refused(409, "busy", "another training runs")
        if not self.progress(self.watch(name))["can_train"]:
            raise Refused(422, "too_few", "a class has too few pictures")
        self.job = {"watch": name, "state": "running", "done": 0, "step": "pictures", "left": None, "message": ""}
        return self.job

    def advance(self):
        self.job["done"] = min(1, self.job["done"] + 0.25)
        self.job.update(step="pictures" if self.job["done"] < 0.5 else "folds", left=3)
        if self.job["done"] == 1:
            self.job.update(state="done", step="model")
            name = self.job["watch"]
            self.add_model(name)

    def add_model(self, name):
        models = self.models.setdefault(name, {})
        models["trained"] = self.make_model(name)
        models["kept"] = [models["trained"], *models.get("kept", [])]

    def cancel(self):
        if self.job and self.job["state"] == "running":
            self.job["state"] = "cancelled"

    def make_model(self, name):
        """Its mistakes are the pictures whose label is not what was drawn."""
        self.now += 60
        watch = self.watch(name)
        own = self.labelled(name)
        wrong = [p for p in own if p["scene"] != p["label"]]
        by_light = {}
        for key, night in (("day", False), ("night", True)):
            of_light = [p for p in own if p["night"] == night]
            right = sum(p["scene"] == p["label"] for p in of_light)
            by_light[key] = {"right": right, "of": len(of_light)} if of_light else None
        share = (len(own) - len(wrong)) / len(own)
        can_tell = self.progress(watch)["can_tell"]
        used = self.models.get(name, {}).get("model")
        return {
            "sha256": f"{len(own):04}{self.now:060}",
            "time": iso(self.now),
            "pictures": len(own),
            "right": len(own) - len(wrong),
            "of": len(own),
            "interval": [max(0, share - self.interval[0]), min(1, share + self.interval[1])] if can_tell else None,
            "can_tell": can_tell,
            **by_light,
            "compared": {"trained": {"right": 12, "of": 12}, "in_use": {"right": 9, "of": 12}} if used else None,
            "classes": watch["classes"],
            "roi": watch["roi"],  # as it is now
            "confusions": [
                {"label": label, "predicted": scene, "pictures": count}
                for (label, scene), count in Counter((p["label"], p["scene"]) for p in wrong).most_common()
            ],
            "mistakes": [
                {"picture": p["number"], "label": p["label"], "predicted": p["scene"], "score": 0.94}
                for p in wrong[:12]
            ],
        }

    def use(self, name, sent):
        models = self.models.setdefault(name, {})
        chosen = next((model for model in models.get("kept", []) if model["sha256"] == sent["sha256"]), None)
        if not chosen:
            raise Refused(404, "not_found", "there is no such model")
        models["previous"], models["model"] = models.get("model"), chosen
        return self.tell(self.watch(name))

    def preview(self, name):
        """What the scene looks like, once two classes have enough pictures."""
        enough = [entry for entry in self.progress(self.watch(name))["classes"] if entry["pictures"] >= 5]
        if self.preview_problem or len(enough) < 2:
            return {"label": None, "lead": None, "missing": 0, "problem": self.preview_problem}
        return {"label": self.scene, "lead": self.lead, "missing": 0, "problem": ""}

    def state(self):
        states = [
            {"name": name, "title": watch["title"], "roi": watch["roi"], "model": "head",
             "state": self.scene, "score": 0.97, "since": self.now}
            for name, watch in self.watches.items()
        ]  # fmt: skip
        now = time.time()
        return {"watches": states, "result": {"seq": now * FPS, "timestamp": now, "dropped": 0}}


# Method and path of the API, and what answers: a function of Taught, the parts of the path, the query and
# what was sent.
ROUTES = [
    ("GET", r"teach", 200, lambda t, path, query, sent: t.all()),
    ("POST", r"teach/watches", 201, lambda t, path, query, sent: t.add_watch(sent)),
    ("PATCH", r"teach/watches/([\w-]+)", 200, lambda t, path, query, sent: t.change_watch(path[0], sent)),
    ("DELETE", r"teach/watches/([\w-]+)", 204, lambda t, path, query, sent: t.remove_watch(path[0])),
    ("POST", r"teach/watches/([\w-]+)/restore", 200, lambda t, path, query, sent: t.restore_watch(path[0])),
    ("POST", r"teach/watches/([\w-]+)/rename-class", 200, lambda t, path, query, sent: t.rename_class(path[0], sent)),
    ("POST", r"teach/watches/([\w-]+)/holds", 201, lambda t, path, query, sent: t.begin_hold(path[0], sent)),
    ("POST", r"teach/watches/([\w-]+)/events", 201, lambda t, path, query, sent: t.teach_event(path[0], sent)),
    ("PUT", r"teach/holds/(\d+)", 200, lambda t, path, query, sent: t.renew_hold(int(path[0]))),
    ("DELETE", r"teach/holds/(\d+)", 200, lambda t, path, query, sent: t.end_hold(int(path[0]))),
    ("GET", r"teach/pictures", 200, lambda t, path, query, sent: t.list_pictures(query)),
    ("PATCH", r"teach/pictures", 200, lambda t, path, query, sent: t.mark(sent)),
    ("POST", r"teach/watches/([\w-]+)/job", 202, lambda t, path, query, sent: t.train(path[0])),
    ("DELETE", r"teach/job", 204, lambda t, path, query, sent: t.cancel()),
    ("GET", r"teach/watches/([\w-]+)/preview", 200, lambda t, path, query, sent: t.preview(path[0])),
    ("PUT", r"teach/watches/([\w-]+)/model", 200, lambda t, path, query, sent: t.use(path[0], sent)),
]  # fmt: skip


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, kind, body, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def answer_json(self, status, value, **headers):
        self.answer(status, "application/json", b"" if value is None else json.dumps(value).encode(), **headers)

    @property
    def is_owner(self):
        return "session=1" in self.headers.get("Cookie", "") and self.server.open_session

    def handle_any(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        path, _, query = self.path.partition("?")
        try:
            with self.server.lock:
                if path in ("/stream", "/events"):
                    pass
                elif path.startswith("/api/1/"):
                    return self.api(path[len("/api/1/") :], dict(urllib.parse.parse_qsl(query)), body)
                elif path == "/state":
                    return self.answer_json(200, self.server.taught.state())
                else:
                    return self.page(path)
            return self.stream() if path == "/stream" else self.wait_for_events()
        except Refused as refused:
            error = {"code": refused.code, "message": refused.message}
            if refused.about is not None:
                error["about"] = refused.about
            return self.answer_json(refused.status, {"error": error}, Retry_After="6")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def page(self, path):
        name = {"/": "index.html", "/teach": "teach.html", "/predict": "predict.html"}.get(path, path[1:])
        file = os.path.join(PAGES, name)
        if ".." in name or not os.path.isfile(file):
            raise Refused(404, "not_found", "there is no such page")
        with open(file, "rb") as page:
            self.answer(200, TYPES[file.rpartition(".")[2]], page.read())

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=part")
        self.send_header("X-Accel-Buffering", "no")  # of nginx
        self.end_headers()
        number = 0
        try:
            while not self.server.ended.wait(0.3):
                number += 7
                picture = draw(self.server.taught.scene, number=number)
                head = f"--part\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\n\r\n"
                self.wfile.write(head.encode() + picture + b"\r\n")
        except OSError:
            pass  # the page closed it

    def wait_for_events(self):
        """There are none."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True
        self.server.ended.wait()

    def api(self, path, query, body):
        server = self.server
        if refusal := server.refusals.get((self.command, path)):
            raise Refused(*refusal)
        if self.command != "GET":
            self.require_own_page()
        sent = json.loads(body) if body else {}
        if path in ("session", "login", "logout"):
            return self.session(path, sent)
        if path == "timeline":
            return self.answer_json(200, server.taught.timeline(query))
        if path.startswith("events"):
            return self.event_picture(path)
        if not self.is_owner:
            raise Refused(401, "not_logged_in", "log in first, with the password of this server")
        if found := re.fullmatch(r"teach/pictures/(\d+)\.jpg", path):
            picture = server.taught.pictures[int(found[1])]
            size = (160, 120) if query.get("size") == "thumb" else (640, 480)
            return self.answer(200, "image/jpeg", draw(picture["scene"], picture["night"], size, 17 * picture["number"]))
        for method, pattern, status, call in ROUTES:
            found = re.fullmatch(pattern, path)
            if found and method == self.command:
                value = call(server.taught, found.groups(), query, sent)
                return self.answer_json(status, None if status == 204 else copy.deepcopy(value))
        raise Refused(404, "not_found", "there is no such page")

    def require_own_page(self):
        if self.headers.get("X-Lookout") != "1" or self.headers.get("Content-Type") != "application/json":
            raise Refused(403, "no_header", "a request that changes anything has X-Lookout: 1")
        origin = self.headers.get("Origin", "")
        if origin != f"http://{self.headers['Host']}":
            raise Refused(403, "cross_origin", "only pages of this server may change anything")

    def event_picture(self, path):
        taught = self.server.taught
        number = int(re.fullmatch(r"events/(\d+)\.jpg", path)[1])
        return self.answer(200, "image/jpeg", draw(taught.event(number)["state"], False, (320, 240)))

    def session(self, path, sent):
        if path == "login":
            if sent.get("password") != PASSWORD:
                raise Refused(401, "wrong_password", "the password is wrong")
            self.server.open_session = True
        if path == "logout":
            self.server.open_session = False
        role = "owner" if path == "login" or self.is_owner else "guest"
        cookie = {"Set_Cookie": "session=1; Path=/; HttpOnly; SameSite=Strict"} if path == "login" else {}
        self.answer_json(200, {"role": role, "teach": self.server.teach}, **cookie)


class TeachServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.taught = Taught()
        self.teach = True  # whether there is a password
        self.open_session = False
        self.refusals = {}  # by method and path of the API: status, code and message
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.serve_forever)
        self.thread.start()

    def handle_error(self, request, client_address):
        """Silent about pages that no longer want an answer."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/"

    def close(self):
        self.ended.set()
        self.shutdown()
        self.thread.join()
        self.server_close()


if __name__ == "__main__":
    one = TeachServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(one.url, flush=True)
    one.thread.join()
