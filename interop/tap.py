#!/usr/bin/env python3
"""Runs a command, forwards bytes between its stdio and that of this program, and records each direction.

    tap.py FOLDER -- COMMAND ...

The recordings are `FOLDER/<pid>.in` (to the command) and `FOLDER/<pid>.out` (from the command). Bytes are recorded before
they are forwarded, so a response is never recorded before its request. The exit status is that of the command.
"""
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path


def pump(source, target, copy_path):
    with open(copy_path, "wb", buffering=0) as copy:
        while piece := os.read(source, 65536):
            copy.write(piece)
            while piece:
                piece = piece[os.write(target, piece) :]


def feed(child, copy_path):
    try:
        pump(0, child.stdin.fileno(), copy_path)
    except BrokenPipeError:
        return  # The command has ended, and its exit status has the reason.
    child.stdin.close()


def main():
    folder, separator, *command = sys.argv[1:]
    assert separator == "--" and command, __doc__
    copies = Path(folder) / str(os.getpid())
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    threading.Thread(target=feed, args=(child, f"{copies}.in"), daemon=True).start()
    try:
        pump(child.stdout.fileno(), 1, f"{copies}.out")
    except BrokenPipeError:
        child.stdout.close()
    status = child.wait()
    os._exit(status if status >= 0 else 128 - status)


main()
