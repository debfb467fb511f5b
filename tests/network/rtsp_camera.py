#!/usr/bin/python3
"""A camera that speaks RTSP: GStreamer's server, on loopback.

  rtsp_camera.py [--port N] [--size WxH] [--user NAME --password TEXT]

Shows a red picture as H.264 at rtsp://127.0.0.1:PORT/stream, and prints PORT when it listens. Commands
on stdin, one a line: `pattern NAME` (of videotestsrc), `size WxH`, `stall` (no more packets, the
connections stay). Ends at the end of stdin.
"""

import argparse
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

PIPELINE = (
    "( videotestsrc name=picture is-live=true pattern=red"
    " ! capsfilter name=size caps=video/x-raw,width={width},height={height},framerate=25/1"
    " ! valve name=valve"
    " ! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25"
    " ! rtph264pay name=pay0 pt=96 config-interval=-1 )"
)


class Camera:
    def __init__(self, options):
        self.media = []
        width, height = options.size.split("x")
        self.server = GstRtspServer.RTSPServer(address="127.0.0.1", service=str(options.port))
        factory = GstRtspServer.RTSPMediaFactory(shared=True)
        factory.set_launch(PIPELINE.format(width=width, height=height))
        factory.connect("media-configure", lambda _, media: self.media.append(media.get_element()))
        if options.user:
            self.protect(factory, options.user, options.password)
        self.server.get_mount_points().add_factory("/stream", factory)
        if not self.server.attach(None):
            sys.exit("rtsp_camera.py: no port")

    def protect(self, factory, user, password):
        auth = GstRtspServer.RTSPAuth()
        auth.set_supported_methods(2)  # GST_RTSP_AUTH_DIGEST
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        auth.add_digest(user, password, token)
        self.server.set_auth(auth)
        factory.add_role_from_structure(
            Gst.Structure.from_string(
                "viewer, media.factory.access=true, media.factory.construct=true"
            )[0]
        )

    def obey(self, command, value):
        for media in self.media:
            if command == "pattern":
                media.get_by_name("picture").set_property("pattern", value)
            elif command == "size":
                width, height = value.split("x")
                caps = f"video/x-raw,width={width},height={height},framerate=25/1"
                media.get_by_name("size").set_property("caps", Gst.Caps.from_string(caps))
            elif command == "stall":
                media.get_by_name("valve").set_property("drop", True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--user")
    parser.add_argument("--password")
    Gst.init(None)
    camera = Camera(parser.parse_args())
    loop = GLib.MainLoop()

    def read():
        for line in sys.stdin:
            GLib.idle_add(camera.obey, *(line.split() + [""])[:2])
        GLib.idle_add(loop.quit)

    threading.Thread(target=read, daemon=True).start()
    print(camera.server.get_bound_port(), flush=True)
    loop.run()


if __name__ == "__main__":
    main()
