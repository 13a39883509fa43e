"""The chat over a WebSocket: handshakes, frames, messages."""
import json
import os
import struct
import time

from .peer import PATIENCE, head, receive, outcome

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def frame(kind, data=b"", final=True, masked=True, reserved=0, length=None):
    size = len(data) if length is None else length
    top = bytes([final << 7 | reserved << 4 | kind])
    bit = masked << 7
    if size < 126:
        top += bytes([bit | size])
    elif size < 1 << 16:
        top += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        top += bytes([bit | 127]) + struct.pack(">Q", size)
    if not masked:
        return top + data
    # The mask is zero, so that the data stay as they are.
    return top + bytes(4) + data


def message(content="hello", conversation="c", **more):
    return json.dumps({"type": "message", "conversation_id": conversation, "content": content, **more}).encode()


def handshake(target, **headers):
    fields = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": 13, "Sec_WebSocket_Key": KEY, **headers}
    options = {name: fields.pop(name) for name in ("method", "path", "version", "token", "host") if name in fields}
    method, path = options.pop("method", "GET"), options.pop("path", "/api/ai/ws")
    return head(target, method, path, **options, **fields)


def open_only(target, source="127.0.0.1", **headers):
    """The response to a handshake."""
    with target.connect(source) as peer:
        peer.sendall(handshake(target, **headers))
        data = b""
        while b"\r\n\r\n" not in data and (piece := peer.recv(65536)):
            data += piece
        return data.split()[1].decode() if data else "closed"


def talk(target, *frames, patience=PATIENCE, path="/api/ai/ws"):
    """Opens a socket, writes frames, and describes the messages: their types, the codes of errors, and the close code."""
    with target.connect() as peer:
        peer.sendall(handshake(target, path=path))
        data = b""
        while b"\r\n\r\n" not in data:
            data += peer.recv(65536)
        top, _, data = data.partition(b"\r\n\r\n")
        assert top.startswith(b"HTTP/1.1 101 "), top
        try:
            for part in frames:
                peer.sendall(part)
        except OSError:
            pass
        found, end = [], time.monotonic() + patience
        while time.monotonic() < end:
            peer.settimeout(1.5 if found else max(0.01, end - time.monotonic()))
            try:
                piece = peer.recv(65536)
            except TimeoutError:
                break
            except ConnectionError:
                piece = b""
            if not piece:
                return " ".join([*found, "closed"])
            data += piece
            while len(data) >= 2:
                size, start = data[1] & 0x7F, 2
                if size >= 126:
                    width = 2 if size == 126 else 8
                    size, start = int.from_bytes(data[2 : 2 + width], "big"), 2 + width
                if len(data) < start + size:
                    break
                kind, payload, data = data[0] & 15, data[start : start + size], data[start + size :]
                found += described(kind, payload)
        return " ".join(found) or "hang"


def described(kind, payload):
    if kind == CLOSE:
        return [str(int.from_bytes(payload[:2], "big")) if payload else "close"]
    if kind == PONG:
        return ["pong"]
    if kind != TEXT:
        return []
    event = json.loads(payload)
    return [event["code"] if event["type"] == "error" else event["type"]] if event["type"] in ("error", "complete") else []


def rows(target):
    opens = lambda **headers: lambda: open_only(target, **headers)
    go = lambda *frames, **options: lambda: talk(target, *frames, **options)
    upgrade, utf8, fragments = "RFC 6455, 4.2.1", "RFC 6455, 8.1: UTF-8", "RFC 6455, 5.4 and 5.5: fragments"
    refused = "400|426|405"
    for name, headers in {
        "no key": {"Sec_WebSocket_Key": None},
        "version 8": {"Sec_WebSocket_Version": 8},
        "no version": {"Sec_WebSocket_Version": None},
        "Upgrade names another protocol": {"Upgrade": "chat"},
        "no Upgrade": {"Upgrade": None},
        "Connection without Upgrade": {"Connection": "keep-alive"},
        "POST": {"method": "POST"},
        "HTTP/1.0": {"version": "1.0"},
    }.items():
        yield f"handshake: {name}", upgrade, refused, opens(**headers)
    yield "handshake: key of 3 bytes", upgrade, "101|400", opens(Sec_WebSocket_Key="abc")
    yield "handshake: unknown subprotocol", "RFC 6455, 4.2.2: ignored", "101", opens(Sec_WebSocket_Protocol="evil")
    yield "handshake: compression", "no extension is offered", "101", opens(Sec_WebSocket_Extensions="permessage-deflate")
    yield "handshake: no token", "a token is needed", "401", opens(token=None, source="127.0.5.1")
    yield "handshake: page of another site", "only pages of the own site", "403", opens(Origin="http://evil.example")
    yield "handshake: page without an origin", "only pages of the own site", "403", opens(Origin="null")
    yield "handshake: name that was rebound", "DNS rebinding", "403", opens(host="evil.example")

    closes = lambda *codes: "|".join(f"({code} )?closed" for code in codes)
    protocol = closes(1002) + "|1002"
    yield "frame without a mask", "RFC 6455, 5.1", protocol, go(frame(TEXT, message(), masked=False))
    yield "reserved bits", "RFC 6455, 5.2", protocol, go(frame(TEXT, message(), reserved=4))
    for kind in (3, 7, 11, 15):
        yield f"reserved opcode {kind}", "RFC 6455, 5.2", protocol, go(frame(kind, b"x"))
    yield "ping of 126 bytes", fragments, protocol, go(frame(PING, b"x" * 126))
    yield "ping in fragments", fragments, protocol, go(frame(PING, b"x", final=False))
    yield "continuation without a start", fragments, protocol, go(frame(0, b"x"))
    yield "second start within a message", fragments, protocol, go(frame(TEXT, b"a", final=False), frame(TEXT, b"b"))
    yield "ping within a message", fragments, "pong complete|pong INVALID_MESSAGE", go(
        frame(TEXT, b"{", final=False), frame(PING, b"x"), frame(0, b"}")
    )
    yield "flood of 100,000 empty fragments", "1 MiB for a message", "INVALID_MESSAGE|" + closes(1009, 1002), go(
        frame(TEXT, b" ", final=False), *[frame(0, b"", final=False) * 1000] * 100, frame(0, b"x")
    )
    yield "fragments over the limit", "1 MiB for a message", closes(1009), go(
        frame(TEXT, b" ", final=False), *[frame(0, b" " * 65536, final=False)] * 17
    )
    yield "message over the limit", "1 MiB for a message", closes(1009), go(frame(TEXT, b" " * (1 << 20) + b"x"))
    yield "length of 2^63", "RFC 6455, 5.2", closes(1009, 1002), go(frame(TEXT, length=1 << 63))
    yield "length of 2^40", "1 MiB for a message", closes(1009), go(frame(TEXT, length=1 << 40))
    yield "frame that breaks off, and no pong", "11 s of silence", "closed", go(frame(TEXT, b"abc", length=1000), patience=18)
    bad = closes(1007, 1002) + "|1007"
    yield "text that is not UTF-8", utf8, bad, go(frame(TEXT, b"\xff\xfe"))
    yield "text with an overlong form", utf8, bad, go(frame(TEXT, b"\xc0\xaf"))
    yield "text with a surrogate", utf8, bad, go(frame(TEXT, b"\xed\xa0\x80"))
    yield "text cut within a character", utf8, bad, go(frame(TEXT, "é".encode()[:1]))
    yield "binary message", "only text", "INVALID_MESSAGE", go(frame(BINARY, message()))
    closed = "RFC 6455, 7.4"
    for name, payload in {"of one byte": b"\x03", "999": b"\x03\xe7", "1005": b"\x03\xed", "1006": b"\x03\xee", "5000": b"\x13\x88"}.items():
        yield f"close code {name}", closed, closes(1002, "close", 1000) + "|1002 closed", go(frame(CLOSE, payload))
    yield "close reason that is not UTF-8", closed, closes(1002, 1007, 1000), go(frame(CLOSE, b"\x03\xe8\xff"))
    yield "message after a close", closed, closes(1000), go(frame(CLOSE, b"\x03\xe8"), frame(TEXT, message()))
    yield "1,000 pings", "each has a pong", "(pong ?){1,1000}", go(frame(PING, b"x") * 1000)
    yield "pong without a ping", "RFC 6455, 5.5.3: ignored", "pong", go(frame(PONG, b"x"), frame(PING, b"y"))
    for name, text in {
        "no JSON": b"hello", "empty": b"", "a list": b"[]", "null": b"null", "no type": b"{}",
        "a number as content": b'{"type":"message","conversation_id":"c","content":1}',
        "100,000 open arrays": b"[" * 100_000,
        "no conversation": b'{"type":"message","content":"x"}',
    }.items():
        yield f"message: {name}", "INVALID_MESSAGE", "INVALID_MESSAGE", go(frame(TEXT, text))
    yield "message: type of the server", "only `message`", "UNKNOWN_TYPE|INVALID_MESSAGE", go(frame(TEXT, b'{"type":"complete"}'))
    yield "message: unknown type", "only `message`", "UNKNOWN_TYPE|INVALID_MESSAGE", go(frame(TEXT, b'{"type":"evil"}'))
    yield "message: blank", "text is needed", "REFUSED|INVALID_MESSAGE", go(frame(TEXT, message(" ")))
    yield "message: id of 100 KB", "1024 bytes", "REFUSED", go(frame(TEXT, message(conversation="c" * 100_000)))
    # Four messages may wait for an answer.
    yield "17 conversations", "16 for a socket", "(INVALID_MESSAGE |REFUSED ){16}TOO_MANY_CONVERSATIONS", go(
        *[frame(TEXT, message(" ", f"c{count}")) for count in range(17)]
    )
    yield "unknown agent", "404", "REFUSED", go(frame(TEXT, message()), path="/api/ai/ws?agent=nothing")
    yield "six messages at once", "four wait", "1008( closed)?", go(
        *[frame(TEXT, message('{"lines":[],"wait":2}', "six"))] * 6
    )
