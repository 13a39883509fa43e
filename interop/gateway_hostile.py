#!/usr/bin/env python3
"""Hostile inputs for the gateway, by HTTP, WebSocket, MCP and an agent. Each row of `hostile/` has a name and an expected outcome.

    gateway_hostile.py                  all rows
    gateway_hostile.py 'smuggling'      rows with this text in their name

Prints a table. Fails if an outcome differs, if the gateway panics, grows, stops answering, or leaves a process.
"""
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from harness import BIN, INTEROP, Place
from hostile import agents, http1, http2, mcp, websocket
from hostile.peer import ALICE, BOB, Target, body_of, chat, head

AT_ONCE = 24
START_SECONDS, END_SECONDS = 15, 20
MIN_ROWS = 150
# Growth by the kept runs with their inputs, and by code that was not used before.
KEPT_MEGABYTES, GROWTH_MEGABYTES = 16, 64
# The allocator returns freed memory at once. Otherwise it keeps up to 40 MB, depending on the order of the requests.
ALLOCATOR = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}

SETTINGS = """
listen = "127.0.0.1:0"
default-agent = "hostile"
[auth.tokens]
alice = "{alice}"
bob = "{bob}"
[agents.hostile]
command = "{python} {interop}/agents/hostile-agent.py"
permission = "reject"
root = "{root}"
fs = "read-write"
terminal = true
[agents.crowded]
command = "{python} {interop}/agents/hostile-agent.py"
root = "{root}"
[times]
header = 2
body = 2
connection-idle = 2
[limits]
requests-a-minute = 100000
kept-bytes = {kept}
"""


class Root:
    """The root of the agent, with links out of it, and what must not change."""

    def __init__(self, place):
        self.folder, self.outside = place.root / "root", place.root / "outside.txt"
        self.folder.mkdir()
        self.outside.write_text("outside")
        sibling = place.root / "root-sibling"
        sibling.mkdir()
        (sibling / "secret.txt").write_text("secret")
        (self.folder / "notes.txt").write_text("notes\n")
        (self.folder / "large").write_bytes(b"x" * (9 << 20))
        (self.folder / "link-to-file").symlink_to(self.outside)
        (self.folder / "link-to-folder").symlink_to("/etc")
        (self.folder / "loop").symlink_to("loop")
        os.mkfifo(self.folder / "pipe")

    def check(self):
        assert self.outside.read_text() == "outside", "a file outside of the root was written"
        assert not os.path.exists("/etc/cron.d/evil") and not os.path.exists("/etc/evil"), "a file of the system was written"


class Gateway:
    def __init__(self, place):
        self.place, self.root, self.log = place, Root(place), place.root / "stderr"
        config = place.root / "gateway.toml"
        options = {"python": sys.executable, "interop": INTEROP, "root": self.root.folder, "kept": KEPT_MEGABYTES << 20}
        config.write_text(SETTINGS.format(alice=ALICE, bob=BOB, **options))
        command = [BIN / "gateway", "--config", config]
        environment = {**place.environment, **ALLOCATOR}
        self.process = subprocess.Popen(command, env=environment, stderr=self.log.open("wb"))
        port = int(self.said(rb"listening on http://127\.0\.0\.1:(\d+)")[1])
        self.target = Target(port, self.root.folder)

    def said(self, pattern):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(pattern, self.log.read_bytes()):
                return found
            time.sleep(0.05)
        raise AssertionError(f"no {pattern} in {self.log.read_text()}")

    def megabytes(self, field="VmRSS"):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(re.search(rf"{field}:\s+(\d+)", status.read())[1]) / 1024

    def works(self, name):
        """Runs a turn, which has to succeed."""
        request = head(self.target, "POST", "/api/ai/chat", body=chat("hello", name, name), Connection="close")
        text = body_of(self.target, request)
        assert '"type":"RUN_FINISHED"' in text and '"type":"success"' in text, text
        assert "hello" not in name


def attack(row):
    name, rule, expected, act = row
    began = time.monotonic()
    try:
        got = act()
    except Exception as error:  # A broken connection is an outcome, too.
        got = f"{type(error).__name__}: {error}"
    is_expected = re.fullmatch(expected, got) is not None and "hang" not in got.replace(expected, "")
    return name, rule, expected, got, is_expected, time.monotonic() - began


def collect(target, chosen):
    for protocol, module in {"HTTP/1.1": http1, "HTTP/2": http2, "WebSocket": websocket, "MCP": mcp, "agent": agents}.items():
        for name, *row in module.rows(target):
            if chosen in f"{protocol}: {name}":
                yield f"{protocol}: {name}", *row


def shown(text, width):
    text = text.encode("ascii", "backslashreplace").decode().replace("\n", " ")
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= width else text[: width - 1] + "…"


def main():
    chosen = sys.argv[1] if len(sys.argv) > 1 else ""
    place, failures = Place(), []
    gateway = Gateway(place)
    try:
        gateway.works("before")
        idle = gateway.megabytes()
        rows = list(collect(gateway.target, chosen))
        print(f"{len(rows)} rows, {AT_ONCE} at once; the gateway has {idle:.0f} MB")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for name, rule, expected, got, is_expected, seconds in pool.map(attack, rows):
                state = "ok  " if is_expected else "FAIL"
                print(f"{state} {shown(name, 58):58} {shown(rule, 44):44} {shown(got, 40)} ({seconds:.1f} s)", flush=True)
                if not is_expected:
                    failures.append(f"{name}: expected {expected}, got {got[:2000]}")
        names = [row[0] for row in rows]
        assert len(names) == len(set(names)), "names of rows are not unique"
        assert chosen or len(rows) >= MIN_ROWS, f"{len(rows)} rows"
        gateway.root.check()
        gateway.works("after")
        peak, rest = gateway.megabytes("VmHWM"), gateway.megabytes()
        print(f"memory: {idle:.0f} MB before, {rest:.0f} MB after, {peak:.0f} MB at most")
        if rest > idle + KEPT_MEGABYTES + GROWTH_MEGABYTES:
            failures.append(f"memory: {rest:.0f} MB")
        gateway.process.send_signal(signal.SIGTERM)
        status = gateway.process.wait(END_SECONDS)
        if status != 0:
            failures.append(f"exit status {status}")
        log = gateway.log.read_text(errors="replace")
        if "panicked" in log:
            failures.append("a panic: " + log[log.index("panicked") - 200 :][:2000])
        for secret in (ALICE, BOB):
            if secret in log:
                failures.append("a token is in the log")
    finally:
        if gateway.process.poll() is None:
            gateway.process.kill()
        left = place.leave()
    if left:
        failures.append(f"processes left behind: {left}")
    for failure in failures:
        print(f"FAIL hostile inputs: {failure}")
    print(f"{'FAIL' if failures else 'PASS'} hostile inputs: {len(rows)} rows")
    sys.exit(1 if failures else 0)


main()
