"""A worker that does not keep to the form: `python hostile_worker.py HOW` says how, in a package that
is found before the real one."""

import json
import os
import signal
import socket
import struct
import sys
import time


def frame(data: bytes) -> bytes:
    return struct.pack("!Q", len(data)) + data


def said(value: object) -> bytes:
    return frame(json.dumps(value).encode())


ANSWERS = {
    "half a frame": struct.pack("!Q", 100) + b"only this",
    "half a blob": said({"blobs": 2}) + frame(b"one") + struct.pack("!Q", 100) + b"half",
    "a frame without end": struct.pack("!Q", 1 << 60),
    "a blob without end": said({"blobs": 1}) + struct.pack("!Q", 1 << 60),
    "more blobs than there are": said({"blobs": 1 << 60}),
    "blobs that are too large together": said({"blobs": 400}) + frame(b"0" * 1_000_000) * 400,
    "fewer blobs than it says": said({"blobs": 0, "result": {"heads": [], "images": 1}}),
    "more blobs than it says": said({"blobs": 1, "result": {"heads": [], "images": 0}})
    + frame(b"x"),
    "another result": said({"blobs": 0, "result": {"heads": [{"page": 1}], "images": 0}}),
    "no result": said({"blobs": 0, "result": 7}),
    "no JSON": frame(b"\xff\xfe"),
    "no head": said([1, 2]),
    "an unknown code": said({"error": {"code": "Text of a document", "message": "x"}}),
    "an error that is none": said({"error": 7}),
    "a need of another document": said({"need": ["ef" * 16, "source"]}),
    "a need of a path": said({"need": ["cd" * 16, "../../../etc/passwd"]}),
    "needs without end": said({"need": ["cd" * 16, "source"]}) * 30_000,
}


# Answers far over the socket's buffer; the worker freezes where it stands.
FROZEN = {
    "frozen before its answer": b"",
    "frozen in a frame": struct.pack("!Q", 100_000_000) + bytes(1_000_000),
    "frozen between blobs": said({"blobs": 2}) + frame(bytes(3_000_000)),
    "frozen in a blob": said({"blobs": 1}) + struct.pack("!Q", 50_000_000) + bytes(5_000_000),
    "frozen in its need": said({"need": ["cd" * 16, "source"]})[:9],
}


def main() -> None:
    how = os.environ["LC_HOSTILE"]
    with socket.socket(fileno=int(sys.argv[1])) as line:
        line.sendall(frame(b"ready"))
        if how == "frozen before it listens":
            os.kill(os.getpid(), signal.SIGSTOP)
        line.recv(1)
        if how in FROZEN:
            line.sendall(FROZEN[how])
            os.kill(os.getpid(), signal.SIGSTOP)
        if how == "a byte at a time":
            for byte in struct.pack("!Q", 1000) + bytes(1000):
                line.sendall(bytes([byte]))
                time.sleep(0.2)
        line.sendall(ANSWERS[how])
        # It neither ends nor says more.
        while line.recv(1 << 16):
            pass


if __name__ == "__main__":
    main()
