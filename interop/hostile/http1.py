"""HTTP/1.1: framing, limits, names of the server, credentials, paths, bodies.

A row is a name, the rule that it checks, the expected outcome as a pattern, and the input.
"""
import base64
import json
import time
from itertools import count
from urllib.parse import quote

from .peer import ALICE, BOB, PATIENCE, chat, head, send

CHAT = "/api/ai/chat"
AGENTS = "/api/ai/agents"
LIMIT = 4 << 20


def rows(target):
    def get(path=AGENTS, **headers):
        return lambda: send(target, head(target, "GET", path, **headers))

    def post(body, path=CHAT, **headers):
        return lambda: send(target, head(target, "POST", path, body=body, Connection="close", **headers))

    def raw(*parts, **options):
        return lambda: send(target, *parts, **options)

    def chunked(*chunks, **headers):
        top = head(target, "POST", CHAT, Content_Type="application/json", Transfer_Encoding="chunked", **headers)
        return raw(top, *chunks)

    good = head(target, "GET", "/healthz")
    smuggled = head(target, "GET", "/api/ai/smuggled")
    length = "RFC 9112, 6.3: one length"
    yield from framing(target, raw, get, chunked, good, smuggled, length)
    yield from limits(target, raw, get, post)
    yield from names(target, get, post)
    yield from credentials(target, get)
    yield from paths(get, post)
    yield from bodies(post)


def framing(target, raw, get, chunked, good, smuggled, length):
    syntax = "RFC 9112, 2.2 to 5: syntax"
    line = lambda text: raw(text + b"\r\nHost: " + target.host.encode() + b"\r\n\r\n")
    for name, text in {
        "only line ends": b"\r\n" * 200 + b"garbage",
        "binary bytes": bytes(range(256)) * 4,
        "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64 + b"\r\n\r\n",
        "no version": b"GET /healthz",
        "version 9.9": b"GET /healthz HTTP/9.9",
        "version in lower case": b"GET /healthz http/1.1",
        "method with a space": b"GE T /healthz HTTP/1.1",
        "method with a control character": b"G\x01T /healthz HTTP/1.1",
        "space in the path": b"GET /a b HTTP/1.1",
        "control character in the path": b"GET /\x01 HTTP/1.1",
        "no path": b"GET  HTTP/1.1",
        "response instead of a request": b"HTTP/1.1 200 OK",
    }.items():
        yield f"request line: {name}", syntax, "400 closed", line(text)
    yield "request line: tunnel by CONNECT", "no proxy", "404", line(b"CONNECT example.com:443 HTTP/1.1")
    yield "request line: TRACE", "no such method", "405", raw(head(target, "TRACE", "/healthz"))
    yield "request line: absolute address of another host", "no proxy", "403", raw(
        head(target, "GET", "http://evil.example/healthz", host="evil.example")
    )
    for name, field in {
        "without a colon": "no colon here",
        "with a space before the colon": "X-Test : 1",
        "with an empty name": ": 1",
        "with a control character in its name": "X\x01: 1",
        "with a NUL in its value": "X-Test: a\x00b",
        "with a bare CR in its value": "X-Test: a\rb",
        "folded over two lines": "X-Test: a\r\n b",
    }.items():
        yield f"header {name}", syntax, "400 closed", raw(good[:-2] + field.encode() + b"\r\n\r\n")
    yield "no Host", "RFC 9112, 3.2", "400", raw(b"GET /healthz HTTP/1.1\r\n\r\n")
    yield "two Hosts", "RFC 9112, 3.2", "400", raw(good[:-2] + b"Host: evil.example\r\n\r\n")

    post = lambda *fields: raw(
        head(target, "POST", CHAT, Content_Type="application/json")[:-2] + "\r\n".join([*fields, "", ""]).encode()
        + b"0\r\n\r\n" + smuggled
    )
    for name, fields, expected in [
        ("two lengths", ("Content-Length: 5", "Content-Length: 60"), "400 closed"),
        ("list of lengths", ("Content-Length: 5, 60",), "400 closed"),
        ("negative length", ("Content-Length: -1",), "400 closed"),
        ("length with a sign", ("Content-Length: +5",), "400 closed"),
        ("hexadecimal length", ("Content-Length: 0x5",), "400 closed"),
        ("length beyond 64 bits", ("Content-Length: 99999999999999999999999",), "400 closed"),
        ("unknown coding", ("Transfer-Encoding: xchunked",), "400 closed"),
        ("coding before another", ("Transfer-Encoding: chunked, identity",), "400 closed"),
        ("coding with a tab", ("Transfer-Encoding:\tchunked\x0b",), "400 closed"),
    ]:
        yield f"smuggling: {name}", length, expected, post(*fields)
    yield "smuggling: length and chunks", length, "400 closed", post("Content-Length: 4", "Transfer-Encoding: chunked")
    yield "smuggling: HTTP/1.0 with chunks", length, "400 closed", raw(
        head(target, "POST", CHAT, version="1.0", Transfer_Encoding="chunked", Content_Type="application/json") + b"0\r\n\r\n"
    )
    chunk = "RFC 9112, 7.1: chunks"
    for name, text in {
        "size is no number": b"zz\r\n",
        "size with a sign": b"+5\r\nhello\r\n0\r\n\r\n",
        "size with 0x": b"0x5\r\nhello\r\n0\r\n\r\n",
        "size beyond 64 bits": b"fffffffffffffffff\r\nx",
        "data longer than its size": b"1\r\nhello\r\n0\r\n\r\n",
        "no line end after the data": b"5\r\nhelloX\r\n0\r\n\r\n",
        "size ended by a bare LF": b"5\nhello\r\n0\r\n\r\n",
    }.items():
        yield f"chunks: {name}", chunk, "400 closed", chunked(text)
    yield "chunks: extension of 64 KiB", "hyper: 16 KiB of extensions", "400 closed", chunked(
        b"1;" + b"x" * 65536 + b"\r\na\r\n0\r\n\r\n"
    )
    yield "chunks: a flood of trailers", "hyper: limits of trailers", "400 closed", chunked(
        b"0\r\n" + b"".join(b"X-%d: a\r\n" % number for number in range(5000)) + b"\r\n"
    )
    yield "chunks: the body breaks off", chunk, "400 closed", raw(
        head(target, "POST", CHAT, Content_Type="application/json", Transfer_Encoding="chunked") + b"5\r\nhel", half=True
    )
    last = good[:-2] + b"Connection: close\r\n\r\n"
    yield "pipeline of 50 requests", "RFC 9112, 9.3.2: in order", "200( 200){49} closed", raw(good * 49 + last, quiet=PATIENCE)


def limits(target, raw, get, post):
    header = "hyper: 100 headers, about 400 KiB"
    yield "101 headers", header, "431 closed", raw(
        head(target, "GET", "/healthz")[:-2] + b"".join(b"X-%d: a\r\n" % number for number in range(101)) + b"\r\n"
    )
    yield "header of 1 MiB", header, "431 closed|closed", get("/healthz", X_Test="x" * (1 << 20))
    yield "headers without an end", header, "431 closed|closed", raw(
        b"GET /healthz HTTP/1.1\r\n" + b"".join(b"X-%d: %s\r\n" % (number, b"x" * 1000) for number in range(1500))
    )
    yield "address of 64 KiB", "an unknown path", "404", get("/" + "x" * 65530)
    yield "address of 1 MiB", "addresses are limited", "414 closed|431 closed|closed", get("/" + "x" * (1 << 20))
    yield "query of 32 KiB", "an unknown query is ignored", "200", get(AGENTS + "?" + "a=b&" * 8192)
    yield "silent connection", "`times.header`", "closed", raw(b"")
    yield "half of a header", "`times.header`", "closed|408 closed", raw(b"GET /healthz HTTP/1.1\r\nHost: ")
    yield "a header byte each 0.1 s", "`times.header`", "closed|408 closed", raw(
        *[b"%c" % byte for byte in head(target, "GET", "/healthz")[:40]], pause=0.1
    )
    yield "body that does not come", "`times.body`", "408.*", raw(
        head(target, "POST", CHAT, Content_Type="application/json", Content_Length=100)
    )
    yield "a body byte each 0.2 s", "`times.body`", "408.*", raw(
        head(target, "POST", CHAT, Content_Type="application/json", Content_Length=100), *[b" "] * 12, pause=0.2
    )
    yield "idle connection after a request", "`times.connection-idle`", "200 closed", lambda: idle(target)
    yield "body over the limit by its length", "4 MiB", "413.*", raw(
        head(target, "POST", CHAT, Content_Type="application/json", Content_Length=LIMIT + 1)
    )
    yield "body over the limit in chunks", "4 MiB", "413.*", raw(
        head(target, "POST", CHAT, Content_Type="application/json", Transfer_Encoding="chunked"),
        b"%x\r\n" % (LIMIT + 1), b" " * (LIMIT + 1),
    )
    yield "a length of 2^63 - 1", "4 MiB", "413", raw(
        head(target, "POST", CHAT, Content_Type="application/json", Content_Length=2**63 - 1)
    )
    yield "Expect: 100-continue with an oversized length", "4 MiB", "413.*", raw(
        head(target, "POST", CHAT, Content_Type="application/json", Content_Length=LIMIT + 1, Expect="100-continue")
    )
    yield "unknown expectation", "RFC 9110, 10.1.1: may be ignored", "200|417.*", get(Expect="the-impossible")
    yield "compressed body", "no content coding is offered", "400 closed", post(b"\x1f\x8b\x08\x00", Content_Encoding="gzip")
    yield "range of the page", "RFC 9110, 14.2: may be ignored", "200", get("/", Range="bytes=0-18446744073709551615,-1")
    yield "upgrade to HTTP/2 by header", "RFC 9113, 3.1: ignored", "200", get(
        Upgrade="h2c", Connection="Upgrade, HTTP2-Settings", HTTP2_Settings="AAMAAABkAAQAAP__"
    )


def idle(target):
    from .peer import outcome, receive

    with target.connect() as peer:
        peer.sendall(head(target, "GET", "/healthz"))
        first, _ = receive(peer)
        time.sleep(2.5)
        rest, closed = receive(peer)
        return outcome(first + rest, closed)


def names(target, get, post):
    rebinding = "DNS rebinding: `Host` is an address or `localhost`"
    for host in [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:8787", "evil.localhost", "",
        "127.0.0.1@evil.example", "localhost:99999", "[::1", "127.0.0.1:x", "2130706433.evil.example", "127.1.evil",
    ]:
        yield f"Host `{host}`", rebinding, "403", get(host=host)
    origin = "only pages of the own site"
    for value in [
        "null", "http://evil.example", f"https://{target.host}.evil.example", "http://127.0.0.1:1", "file://",
        f"http://user@{target.host}", f"http://{target.host}/", "://", f"http://{target.host},http://evil.example", "\xff",
    ]:
        yield f"Origin `{value}`", origin, "403", get(Origin=value)
    for site, expected in [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]:
        yield f"Sec-Fetch-Site `{site}`", "Fetch metadata", f"{expected}", get(Sec_Fetch_Site=site)
    yield "preflight of another site", "CORS is closed", "403", lambda: send(
        target, head(target, "OPTIONS", CHAT, token=None, Origin="http://evil.example", Access_Control_Request_Method="POST")
    )
    form = "only JSON: no form of another site"
    for kind in [None, "text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/json5", ""]:
        yield f"Content-Type `{kind}`", form, "415 closed", post(chat(), Content_Type=kind)


def credentials(target, get):
    port = target.port
    rule = "RFC 6750: a valid token"
    # Each from an address of its own, since invalid tokens of one address are limited.
    wrong = [
        None, "Bearer", "Bearer ", "Bearer wrong", f"Bearer {ALICE}x", f"Bearer {ALICE[:-1]}", f"bearer{ALICE}", f"Basic {ALICE}",
        f"Bearer {ALICE},{BOB}", "Bearer \xe4", "Bearer " + "x" * 8000, f"Digest username={ALICE}",
        "Basic " + base64.b64encode(f"alice:{ALICE}".encode()).decode(),
    ]
    for number, value in enumerate(wrong):
        yield f"Authorization `{(value or 'none')[:24]}` {number}", rule, "401", lambda value=value, number=number: send(
            target, head(target, "GET", AGENTS, token=None, Authorization=value), source=f"127.0.2.{number + 1}"
        )
    cookies = [
        f"gateway-{port}={ALICE}", f"gateway-{port}=", f"gateway-{port}=" + "0" * 64, "gateway-=x", "=" * 4000, f"a=b; gateway-{port}",
    ]
    for number, value in enumerate(cookies):
        yield f"Cookie `{value[:20]}` {number}", "the cookie is not the token", "401", lambda value=value, number=number: send(
            target, head(target, "GET", AGENTS, token=None, Cookie=value), source=f"127.0.3.{number + 1}"
        )
    yield "token in the query of the API", "tokens are taken from the page's address alone", "401", lambda: send(
        target, head(target, "GET", f"{AGENTS}?token={ALICE}", token=None), source="127.0.4.1"
    )
    yield "token in a header of a proxy", "no trusted header is set", "401", lambda: send(
        target, head(target, "GET", AGENTS, token=None, X_Forwarded_User="alice", X_Remote_User="alice"), source="127.0.4.2"
    )
    yield "30 guesses of one address", "8 in 10 s, then 429", "401 " * 8 + "429 " * 22 + "closed", lambda: send(
        target,
        head(target, "GET", AGENTS, token="guess") * 29,
        head(target, "GET", AGENTS, token="guess", Connection="close"),
        source="127.0.4.3",
        quiet=PATIENCE,
    )


def paths(get, post):
    traversal = "no file of the system is reachable"
    for path in [
        "/assets/../Cargo.toml", "/assets/..%2f..%2fCargo.toml", "/assets/%2e%2e/%2e%2e/etc/passwd", "/assets/....//etc/passwd",
        "/assets/%2fetc%2fpasswd", "/assets/..%5c..%5cetc", "/assets/main.js%00.css", "//etc/passwd", "/assets/", "/./healthz",
        "/API/AI/AGENTS", "/api/ai/agents/..%2f..", "/assets/%c0%ae%c0%ae/etc/passwd",
    ]:
        yield f"path `{path}`", traversal, "404", get(path)
    yield "path that is not UTF-8", "400 with the reason", "400", get("/api/ai/chat/runs/%ff%fe/events")
    yield "unfinished escape", "an unknown run", "404", get("/api/ai/chat/runs/%e/events")
    yield "id of a run of 60 KB", "an unknown run", "404", get(f"/api/ai/chat/runs/{'x' * 60000}/events")
    yield "Last-Event-ID of 32 KiB", "unknown run", "404", get("/api/ai/chat/runs/x/events", Last_Event_ID="9" * 32768)
    yield "unknown agent", "404", "404", get("/api/ai/agents/nothing/capabilities")
    yield "agent named as a path", "404", "404", get("/api/ai/agents/..%2fhostile/capabilities")
    yield "GET of a chat", "only POST", "405", get(CHAT)
    for name, path, body in [
        ("a run that does not exist", "/api/ai/chat/runs/none/cancel", b"{}"),
        ("a question that does not exist", "/api/ai/chat/interrupts/1-int-1", b'{"cancelled":true}'),
        ("a guessed question", "/api/ai/chat/interrupts/" + "0" * 32 + "-int-1", b'{"optionId":"allow"}'),
        ("a call that does not exist", "/api/ai/chat/runs/none/tools/call-1", b'{"content":"x"}'),
        ("settings of an unknown thread", "/api/ai/agents/hostile/threads/none/settings", b'{"modeId":"x"}'),
    ]:
        yield f"input for {name}", "unknown or foreign: 404", "404 closed", post(body, path)
    for name, body in [
        ("two decisions", b'{"optionId":"x","cancelled":true}'), ("no decision", b"{}"), ("a list", b"[]"),
        ("an unknown action", b'{"action":"explode"}'),
    ]:
        yield f"answer with {name}", "exactly one decision", "400 closed", post(body, "/api/ai/chat/interrupts/x")


def bodies(post):
    # Rows are sent at the same time, and a run that is being refused has its id.
    numbers = count()

    def with_message(**message):
        name = f"invalid-{next(numbers)}"
        return json.dumps({"threadId": name, "runId": name, "messages": [{"id": "m", "role": "user", **message}]}).encode()

    image = lambda **source: with_message(content=[{"type": "image", "source": source}])
    invalid = "400 with the place"
    deep = "the depth of JSON is limited"
    for name, body in {
        "empty": b"",
        "cut off": chat()[:-2],
        "two values": chat() + chat(),
        "not UTF-8": b'{"threadId":"\xff"}',
        "UTF-16": chat().decode().encode("utf-16"),
        "NUL bytes": b"\0" * 1000,
        "a number": b"1e999999",
        "NaN": b'{"threadId":NaN}',
        "a trailing comma": chat()[:-1] + b",}",
        "a comment": b"/* */" + chat(),
        "member twice": b'{"threadId":"a","threadId":"b","runId":"r","messages":[]}',
        "no messages": json.dumps({"threadId": "t", "runId": "r", "messages": []}).encode(),
        "a number as thread": json.dumps({"threadId": 1, "runId": "r", "messages": []}).encode(),
        "messages as an object": json.dumps({"threadId": "t", "runId": "r", "messages": {}}).encode(),
        "message without content": with_message(),
        "blank message": with_message(content=" \n\t"),
        "invalid base64": image(type="data", value="%%%", mimeType="image/png"),
        "file URL": image(type="url", value="file:///etc/passwd"),
        "javascript URL": image(type="url", value="javascript:alert(1)"),
        "loopback URL": image(type="url", value="http://127.0.0.1:6379/"),
        "loopback URL mapped into IPv6": image(type="url", value="http://[::ffff:127.0.0.1]/"),
        "metadata URL": image(type="url", value="http://169.254.169.254/latest/meta-data/"),
        "loopback as a decimal number": image(type="url", value="http://2130706433/"),
        "URL of an internal name": image(type="url", value="http://vault.internal/"),
        "lone surrogate in the text": b'{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"\\ud800"}]}',
    }.items():
        yield f"body: {name}", invalid, "415 closed" if name == "invalid base64" else "400 closed", post(body)
    nested = b'{"threadId":"t","runId":"r","messages":[],"state":'
    yield "body: 100,000 open arrays", deep, "400 closed", post(nested + b"[" * 100_000)
    yield "body: 100,000 nested objects", deep, "400 closed", post(nested + b'{"a":' * 100_000 + b"1" + b"}" * 100_001)
    yield "body: 40,000 messages", "20,000 messages", "413 closed", post(
        json.dumps({"threadId": "t", "runId": "many", "messages": [{"id": "m", "role": "user", "content": "x"}] * 40_000}).encode()
    )
    yield "body: id of a thread over the limit", "1024 bytes", "400 closed", post(chat(thread="t" * 1025))
    yield "body: id of a run over the limit", "1024 bytes", "400 closed", post(chat(run="r" * 1025))
    tool = {"name": "t", "description": "d", "parameters": {"type": "object"}}
    yield "body: 129 tools", "128 tools are offered", "200 closed", post(chat('{"lines":[]}', "tools", "tools", tools=[
        {**tool, "name": f"t{number}"} for number in range(129)
    ]))
    yield "body: answers to questions that are not open", "RESUME_MISMATCH in the stream", "200 closed", post(
        chat('{"lines":[]}', "resume", "resume", resume=[{"interruptId": quote("../x"), "status": "resolved", "payload": {}}])
    )
