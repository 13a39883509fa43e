"""A peer that writes bytes to a socket and describes what comes back in one word or a few."""
import json
import re
import socket
import time

# A response that takes longer is a hang.
PATIENCE = 10
# Silence after a response that is complete.
QUIET = 0.4
ALICE, BOB = "token-of-alice-0123456789", "token-of-bob-0123456789"


class Target:
    """The gateway under test, and the root of its agent."""

    def __init__(self, port, root):
        self.port, self.root = port, root
        self.host = f"127.0.0.1:{port}"

    def connect(self, source="127.0.0.1"):
        peer = socket.create_connection(("127.0.0.1", self.port), PATIENCE, (source, 0))
        peer.settimeout(PATIENCE)
        return peer


def head(target, method, path, *, host=None, token=ALICE, version="1.1", body=None, **headers):
    """Returns the bytes of a request; underscores in the names of headers stand for hyphens, `None` leaves one out."""
    lines = [f"{method} {path} HTTP/{version}"]
    fields = {"Host": target.host if host is None else host, "Authorization": f"Bearer {token}" if token else None}
    if body is not None:
        fields |= {"Content-Type": "application/json", "Content-Length": len(body)}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines += [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def chat(content="hello", thread="t", run="r", **more):
    """Returns an AG-UI input."""
    message = {"id": "m", "role": "user", "content": content}
    return json.dumps({"protocolVersion": "1.0", "threadId": thread, "runId": run, "messages": [message], **more}).encode()


def receive(peer, seconds=PATIENCE, quiet=QUIET):
    """Reads until the peer closes, or nothing comes for a while after a response is complete."""
    data, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        peer.settimeout(max(0.05, min(end - time.monotonic(), quiet if complete(data) else seconds)))
        try:
            piece = peer.recv(65536)
        except TimeoutError:
            if complete(data):
                return data, False
            continue
        except ConnectionError:
            return data, True
        if not piece:
            return data, True
        data += piece
    return data, None


def complete(data):
    """Whether the bytes end with a whole response of HTTP/1.1."""
    return bool(data) and data.endswith(rest_of(data)[1])


def rest_of(data):
    """Splits the responses. Returns their statuses, and the bytes that end the last one."""
    statuses = []
    while data.startswith(b"HTTP/1."):
        top, separator, data = data.partition(b"\r\n\r\n")
        if not separator:
            return statuses, b"\0 not complete"
        statuses.append(int(top.split()[1]))
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", top)
        if length:
            size = int(length[1])
            if len(data) < size:
                return statuses, b"\0 not complete"
            data = data[size:]
        elif re.search(rb"(?i)\r\ntransfer-encoding: *chunked", top):
            end = data.find(b"0\r\n\r\n")
            if end < 0:
                return statuses, b"\0 not complete"
            data = data[end + 5 :]
    return statuses, b""


def outcome(data, closed):
    """Describes the responses: `400`, `400 closed`, `200 200`, `closed`, `hang`."""
    words = [str(status) for status in rest_of(data)[0]]
    if closed:
        words.append("closed")
    elif closed is None:
        words.append("hang")
    return " ".join(words)


def send(target, *parts, pause=0, half=False, source="127.0.0.1", quiet=QUIET):
    """Writes parts to a new connection, and describes what comes back."""
    with target.connect(source) as peer:
        try:
            for part in parts:
                peer.sendall(part)
                time.sleep(pause)
            if half:
                peer.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The gateway has answered and closed.
        return outcome(*receive(peer, quiet=quiet))


def body_of(target, request):
    """Returns the body of a response that is not chunked into pieces of interest, or the whole text of a stream."""
    with target.connect() as peer:
        peer.sendall(request)
        data, _ = receive(peer)
        return data.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
