"""HTTP/2 without TLS: frames that break the protocol, and floods. The fields of headers are encoded without a table."""
import socket
import struct
import time

from .peer import ALICE, PATIENCE

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
ERRORS = {1: "PROTOCOL_ERROR", 2: "INTERNAL_ERROR", 3: "FLOW_CONTROL_ERROR", 5: "STREAM_CLOSED", 6: "FRAME_SIZE_ERROR",
          7: "REFUSED_STREAM", 9: "COMPRESSION_ERROR", 11: "ENHANCE_YOUR_CALM", 0: "NO_ERROR", 8: "CANCEL"}
# Entries of the static table for `:status`, and others are literals.
STATUS = {8: "200", 9: "204", 10: "206", 11: "304", 12: "400", 13: "404", 14: "500"}


def frame(kind, payload=b"", flags=0, stream=0):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def number(value):
    """Encodes an integer with a prefix of seven bits."""
    if value < 127:
        return bytes([value])
    rest, out = value - 127, b"\x7f"
    while rest >= 128:
        out, rest = out + bytes([rest % 128 + 128]), rest // 128
    return out + bytes([rest])


def fields(*pairs):
    text = lambda value: number(len(value)) + value
    return b"".join(b"\0" + text(name.encode("latin-1")) + text(value.encode("latin-1")) for name, value in pairs)


def request(target, *more, method="GET", path="/api/ai/agents", scheme="http", authority=None):
    pairs = [(":method", method), (":scheme", scheme), (":path", path), (":authority", authority or target.host)]
    return fields(*[pair for pair in pairs if pair[1] is not None], ("authorization", f"Bearer {ALICE}"), *more)


def talk(target, *frames, pause=0):
    """Writes frames to a new connection, and describes the first thing that decides: an error or a status."""
    with target.connect() as peer:
        try:
            for part in (PREFACE, frame(SETTINGS), *frames):
                peer.sendall(part)
                time.sleep(pause)
        except OSError:
            pass
        data, found, end = b"", [], time.monotonic() + PATIENCE
        while time.monotonic() < end:
            peer.settimeout(1 if found else end - time.monotonic() + 0.01)
            try:
                piece = peer.recv(65536)
            except TimeoutError:
                break
            except ConnectionError:
                piece = b""
            if not piece:
                return " ".join([*found, "closed"])
            data += piece
            while len(data) >= 9 and len(data) >= 9 + (size := int.from_bytes(data[:3], "big")):
                kind, payload, data = data[3], data[9 : 9 + size], data[9 + size :]
                if kind == HEADERS:
                    found.append(STATUS.get(payload[0] & 0x7F) or status_of(payload))
                elif kind in (RST, GOAWAY):
                    code = int.from_bytes(payload[4:8] if kind == GOAWAY else payload[:4], "big")
                    found.append(ERRORS.get(code, str(code)))
        return " ".join(found) or "hang"


def status_of(payload):
    """Decodes a literal `:status` of three digits, also with the digits' codes of Huffman (five bits for 0 to 2, six above)."""
    length, start = payload[1] & 0x7F, 2
    if not payload[1] & 0x80:
        return payload[start : start + length].decode()
    bits, text = "".join(f"{byte:08b}" for byte in payload[start : start + length]), ""
    codes = {f"{digit:05b}": str(digit) for digit in range(3)} | {f"{0x19 + digit - 3:06b}": str(digit) for digit in range(3, 10)}
    while len(text) < 3:
        size = 5 if bits[:5] in codes else 6
        text, bits = text + codes[bits[:size]], bits[size:]
    return text


def rows(target):
    def get(*more, stream=1, flags=END_STREAM | END_HEADERS, **parts):
        return frame(HEADERS, request(target, *more, **parts), flags, stream)

    go = lambda *frames, **options: lambda: talk(target, *frames, **options)
    bad, size, flow = "PROTOCOL_ERROR.*", "(FRAME_SIZE|PROTOCOL)_ERROR closed", "FLOW_CONTROL_ERROR.*"
    json = ("content-type", "application/json")
    post = {"flags": END_HEADERS, "method": "POST", "path": "/api/ai/chat"}
    yield "regular request", "RFC 9113", "200", go(get())
    yield "another authority", "the authority is checked as `Host` is", "403", go(get(authority="evil.example"))
    yield "another Host beside the authority", "RFC 9113, 8.3.1", "403|PROTOCOL_ERROR.*", go(get(("host", "evil.example")))
    yield "no authority", "as without `Host`", "403|400", go(
        frame(HEADERS, fields((":method", "GET"), (":scheme", "http"), (":path", "/healthz")), 5, 1)
    )
    yield "origin of another site", "only pages of the own site", "403", go(get(("origin", "http://evil.example")))
    yield "no path", "RFC 9113, 8.3.1", bad, go(get(path=None))
    yield "empty path", "RFC 9113, 8.3.1", bad + "|404|400", go(get(path=""))
    yield "path twice", "RFC 9113, 8.3", bad, go(get((":path", "/")))
    yield "field of a response in a request", "RFC 9113, 8.3", bad, go(get((":status", "200")))
    yield "name in upper case", "RFC 9113, 8.2.1", bad + "|COMPRESSION_ERROR.*", go(get(("X-Test", "1")))
    yield "name with a line end", "RFC 9113, 8.2.1", bad + "|COMPRESSION_ERROR.*", go(get(("x\r\ny", "1")))
    yield "value with a line end", "RFC 9113, 8.2.1", bad + "|COMPRESSION_ERROR.*|400", go(get(("x", "a\r\nhost: evil.example")))
    yield "Connection header", "RFC 9113, 8.2.2", bad, go(get(("connection", "keep-alive")))
    yield "Transfer-Encoding header", "RFC 9113, 8.2.2", bad, go(get(("transfer-encoding", "chunked")))
    yield "length unlike the body", "RFC 9113, 8.1.1", bad + "|400.*", go(
        get(("content-length", "5"), json, **post),
        frame(DATA, b"{}", END_STREAM, 1),
    )
    yield "HEADERS on stream 0", "RFC 9113, 6.2", bad, go(get(stream=0))
    yield "even number of a stream", "RFC 9113, 5.1.1", bad, go(get(stream=2))
    yield "number of a stream that decreases", "RFC 9113, 5.1.1", f"({bad}|STREAM_CLOSED.*|200.*)+", go(
        get(stream=5), get(stream=3)
    )
    yield "DATA before HEADERS", "RFC 9113, 5.1", bad, go(frame(DATA, b"x", 0, 1))
    yield "DATA after the end", "RFC 9113, 5.1", "(200 )?(STREAM_CLOSED|PROTOCOL_ERROR).*|200", go(get(), frame(DATA, b"x", 0, 1))
    yield "frame over the limit of its size", "RFC 9113, 4.2", size, go(frame(DATA, b"x" * 20000, 0, 1))
    yield "SETTINGS of 5 bytes", "RFC 9113, 6.5", size, go(frame(SETTINGS, b"xxxxx"))
    yield "SETTINGS on a stream", "RFC 9113, 6.5", bad, go(frame(SETTINGS, b"", 0, 1))
    yield "SETTINGS with an invalid window", "RFC 9113, 6.5.2", f"{flow}|{bad}", go(frame(SETTINGS, struct.pack(">HI", 4, 1 << 31)))
    yield "SETTINGS with an invalid size", "RFC 9113, 6.5.2", bad, go(frame(SETTINGS, struct.pack(">HI", 5, 1)))
    yield "PING of 7 bytes", "RFC 9113, 6.7", size, go(frame(PING, b"1234567"))
    yield "PING on a stream", "RFC 9113, 6.7", bad, go(frame(PING, b"12345678", 0, 1))
    yield "window grows by 0", "RFC 9113, 6.9", bad, go(get(json, **post), frame(WINDOW, bytes(4), 0, 1))
    yield "window beyond 2^31", "RFC 9113, 6.9.1", flow, go(
        frame(WINDOW, struct.pack(">I", 0x7FFFFFFF)), frame(WINDOW, struct.pack(">I", 0x7FFFFFFF))
    )
    yield "padding longer than the frame", "RFC 9113, 6.1", bad, go(
        frame(HEADERS, b"\xff" + request(target)[:20], END_HEADERS | PADDED, 1)
    )
    yield "PUSH_PROMISE of a client", "RFC 9113, 8.4", bad, go(frame(PUSH, struct.pack(">I", 2), END_HEADERS, 1))
    yield "CONTINUATION without HEADERS", "RFC 9113, 6.10", bad, go(frame(CONTINUATION, b"", END_HEADERS, 1))
    yield "another frame within HEADERS", "RFC 9113, 6.10", bad, go(get(flags=END_STREAM), frame(PING, b"12345678"))
    yield "invalid compression", "RFC 9113, 4.3", "(COMPRESSION|PROTOCOL)_ERROR closed", go(frame(HEADERS, b"\xff" * 40, 5, 1))
    yield "unknown frame", "RFC 9113, 5.5: ignored", "200", go(frame(0xEE, b"x" * 100, 0xFF, 0), get())
    yield "headers of 1 MiB", "hyper: 16 KiB", "431.*|PROTOCOL_ERROR.*|ENHANCE_YOUR_CALM.*|closed", go(
        get(flags=END_STREAM), *[frame(CONTINUATION, fields(("x", "y" * 16000)), 0, 1)] * 64, frame(CONTINUATION, b"", 4, 1)
    )
    yield "flood of CONTINUATION", "CVE-2024-27316", "(431.*|PROTOCOL_ERROR.*|ENHANCE_YOUR_CALM.*|closed)+", go(
        get(flags=END_STREAM), *[frame(CONTINUATION, b"", 0, 1)] * 20000
    )
    yield "streams that are reset at once", "CVE-2023-44487", "ENHANCE_YOUR_CALM.*|closed", go(
        *[get(stream=1 + 2 * count) + frame(RST, struct.pack(">I", 8), 0, 1 + 2 * count) for count in range(3000)]
    )
    yield "flood of PING", "each is answered, or the connection ends", "200.*|ENHANCE_YOUR_CALM.*|closed", go(
        *[frame(PING, b"12345678") * 1000] * 20, get()
    )
    yield "flood of SETTINGS", "each is answered, or the connection ends", "200.*|ENHANCE_YOUR_CALM.*|closed", go(
        *[frame(SETTINGS) * 1000] * 10, get()
    )
    yield "flood of empty DATA", "a body without an end", "(408|400|200|PROTOCOL_ERROR|ENHANCE_YOUR_CALM|closed).*", go(
        get(json, **post), *[frame(DATA, b"", 0, 1) * 1000] * 10
    )
    yield "preface with an error", "RFC 9113, 3.4", "closed|400.*", lambda: broken_preface(target)
    yield "preface and silence", "`times.header`", "closed|NO_ERROR.*", go()


def broken_preface(target):
    from .peer import send

    return send(target, PREFACE[:-4] + b"XX\r\n" + frame(SETTINGS))
