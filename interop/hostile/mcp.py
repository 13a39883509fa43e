"""The MCP server of a thread, of both generations: sessions, event ids, messages, versions."""
import json
import re

from .agents import turn
from .peer import ALICE, head, outcome, receive

TOOL = {"name": "note", "description": "A note", "parameters": {"type": "object"}, "metadata": {"execution": "sync"}}


class Server:
    """The server of one thread."""

    def __init__(self, target):
        said = "".join(event.get("delta", "") for event in turn(target, [], servers=True, tools=[TOOL]))
        [server] = json.loads(said)
        self.target, self.path = target, "/" + server["url"].split("/", 3)[3]
        self.token = server["headers"][0]["value"].removeprefix("Bearer ")
        self.session = None

    def request(self, body=None, method="POST", path=None, **headers):
        fields = {"Accept": "application/json, text/event-stream", "Connection": "close", "token": self.token} | headers
        return head(self.target, method, path or self.path, body=body, **fields)

    def send(self, body=None, **headers):
        """Returns the status of the response, and the code of its error."""
        with self.target.connect() as peer:
            peer.sendall(self.request(body, **headers))
            data, closed = receive(peer)
        code = re.search(rb'"error":\{"code":(-?\d+)', data)
        return outcome(data, closed).removesuffix(" closed") + (f" {code[1].decode()}" if code else "")

    def open(self):
        """Begins a session of the first generation."""
        with self.target.connect() as peer:
            peer.sendall(self.request(INITIALIZE))
            data, _ = receive(peer)
        self.session = re.search(rb"(?i)\r\nmcp-session-id: *(\S+)", data)[1].decode()
        assert self.send(message("notifications/initialized"), Mcp_Session_Id=self.session) == "202"
        return self


def message(method, id=None, **params):
    return json.dumps({"jsonrpc": "2.0", **({} if id is None else {"id": id}), "method": method, "params": params}).encode()


INITIALIZE = message(
    "initialize", 1, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "hostile", "version": "1"}
)


def rows(target):
    one, other = Server(target).open(), Server(target).open()
    go = lambda body=None, server=one, **headers: lambda: server.send(body, **headers)
    within = lambda body=None, **headers: go(body, **{"Mcp_Session_Id": one.session, **headers})
    listed = message("tools/list", 2)
    secret = "the address and the token have 128 random bits each"
    yield "no token", secret, "401 -32600", go(listed, token=None)
    yield "token of a user", secret, "401 -32600", go(listed, token=ALICE)
    yield "token of another thread", secret, "401 -32600", go(listed, token=other.token)
    yield "token of one character less", secret, "401 -32600", go(listed, token=one.token[:-1])
    yield "address of no thread", secret, "404", go(listed, path="/mcp/threads/" + "0" * 32)
    yield "address that climbs", secret, "404", go(listed, path="/mcp/threads/..%2f..%2fapi")
    yield "page of another site", "`Origin` is checked", "403", go(listed, Origin="http://evil.example")
    yield "name that was rebound", "`Host` is checked", "403", go(listed, host="evil.example")

    http = "Streamable HTTP"
    yield "no Accept", http, "406 -32600", within(listed, Accept=None)
    yield "Accept without a stream", http, "406 -32600", within(listed, Accept="application/json")
    yield "Content-Type of a form", "only JSON", "415 -32600", within(listed, Content_Type="text/plain")
    yield "PUT", http, "405 -32600", within(listed, method="PUT")
    yield "HEAD", http, "405", within(method="HEAD")
    yield "body over 4 MiB", "4 MiB", "413.*", within(b" " * ((4 << 20) + 1))

    session = "a session belongs to its server"
    yield "no session", session, "400 -32600", go(listed)
    yield "unknown session", session, "404 -32600", go(listed, Mcp_Session_Id="0" * 32)
    yield "session of another thread", session, "404 -32600", go(listed, Mcp_Session_Id=other.session)
    yield "session of 10 KB", session, "404 -32600", go(listed, Mcp_Session_Id="x" * 10_000)
    yield "session with other bytes", session, "400 -32600", go(listed, Mcp_Session_Id="\xff\xfe")
    yield "session twice", session, "404 -32600", go(listed, Mcp_Session_Id=f"{one.session}, {other.session}")
    yield "stream of an unknown session", session, "404 -32600", go(method="GET", Accept="text/event-stream", Mcp_Session_Id="x")
    yield "end of a session of another thread", session, "404 -32600", go(method="DELETE", Mcp_Session_Id=other.session)
    yield "end of no session", session, "405 -32600", go(method="DELETE")
    replay = "an event id belongs to a stream of the session"
    for name, event in {"unknown": "999999", "no number": "../../x", "negative": "-1", "huge": "9" * 300,
                        "of 10 KB": "x" * 10_000}.items():
        yield f"Last-Event-ID {name}", replay, "400 -32600", within(method="GET", Accept="text/event-stream", Last_Event_ID=event)

    version = "the version is one that the server offers"
    for value in ["1999-01-01", "2099-01-01", "x" * 5000, "'; DROP TABLE", "\xff"]:
        yield f"version header `{value[:12]}`", version, "400 -32020|400 -32600", within(listed, MCP_Protocol_Version=value)
    yield "unknown version in `initialize`", "the server answers with its own", "200", go(
        INITIALIZE.replace(b"2025-11-25", b"1999-01-01")
    )
    yield "`initialize` without parameters", "invalid parameters", "200 -32602", go(message("initialize", 1))
    yield "`initialize` twice", "the session goes on", "200", within(INITIALIZE)
    modern = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/list"}
    yield "stateless request without `_meta`", "2026-07-28: request metadata", "400 -32602", go(listed, **modern)
    yield "stateless request with another method in its header", "2026-07-28: request metadata", "400 -32020", go(
        listed, **{**modern, "Mcp_Method": "tools/call"}
    )
    yield "stateless response", "2026-07-28: requests only", "400 -32600", go(
        b'{"jsonrpc":"2.0","id":1,"result":{"_meta":{}}}', **modern
    )

    rpc = "JSON-RPC"
    for name, body, expected in [
        ("empty", b"", "400 -32700"), ("no JSON", b"hello", "400 -32700"), ("a batch", b"[" + listed + b"]", "400 -32600"),
        ("an empty batch", b"[]", "400 -32600"),
        ("not UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', "400 -32600"),
        ("100,000 open arrays", b"[" * 100_000, "400 -32700"),
        ("depth in the parameters", b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
         "200 -32602"),
        ("no version", b'{"id":1,"method":"tools/list"}', "200"),
        ("id is an object", b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}', "400 -32600"),
        ("id is null", b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', "200"),
        ("id of 1 MB", json.dumps({"jsonrpc": "2.0", "id": "x" * 1_000_000, "method": "ping"}).encode(), "400 -32600"),
        ("id is a huge number", b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}', "200"),
        ("member twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', "400 -32600"),
        ("lone surrogate", b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', "400 -32600"),
        ("unknown method", message("tools/explode", 3), "200 -32601"),
        ("method of the client", message("elicitation/create", 4), "200 -32601"),
        ("unknown notification", message("notifications/explode"), "202"),
        ("response that no request has", b'{"jsonrpc":"2.0","id":99,"result":{}}', "202"),
        ("cancellation of an unknown request", message("notifications/cancelled", requestId=77), "202"),
        ("progress of an unknown request", message("notifications/progress", progressToken="x", progress=1e308), "202"),
        ("invalid cursor", message("tools/list", 5, cursor="../../x"), "200 -32602"),
        ("cursor is a number", message("tools/list", 6, cursor=1), "200 -32602"),
    ]:
        yield f"message: {name}", rpc, expected, within(body)
    call = "an error in the result"
    for name, params in {
        "an unknown tool": {"name": "nothing", "arguments": {}},
        "a tool with a name of 100 KB": {"name": "x" * 100_000},
        "arguments that are a list": {"name": "note", "arguments": []},
        "no name": {},
        "a name that is a number": {"name": 5},
    }.items():
        yield f"call of {name}", call, "200 -32602", within(message("tools/call", name, **params))
    yield "call of a tool of the page after its run", "the result is an error", "200", within(
        message("tools/call", "late", name="note", arguments={})
    )
    yield "two streams of one session", "each has its own", "200 200", lambda: streams(one)
    yield "100 sessions", "a session each", "200", lambda: {one.send(INITIALIZE) for _ in range(100)}.pop()


def streams(server):
    """Opens two streams for messages without a request."""
    first, second = server.target.connect(), server.target.connect()
    with first, second:
        for peer in (first, second):
            peer.sendall(server.request(method="GET", Accept="text/event-stream", Mcp_Session_Id=server.session))
        first.settimeout(2)
        second.settimeout(2)
        return f"{first.recv(4096).split()[1].decode()} {second.recv(4096).split()[1].decode()}"
