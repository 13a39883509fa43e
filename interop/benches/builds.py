#!/usr/bin/env python3
"""Measures clean builds with each crate and with the official crates, and writes BUILDS.md.

    interop/benches/builds.py            all programs
    interop/benches/builds.py NAME...    only these

Each program prints a line and does not use its dependency. The script measures the CPU seconds of cargo and its child
processes, and the resident memory of the largest process, a rustc. Sources are fetched before. Requires Python and a registry.
"""
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Name and dependency of each program. A crate of this workspace precedes the crates that it is compared with.
PROGRAMS = {
    "jsonrpc-core": 'spanwire-jsonrpc-core = { path = "%s/jsonrpc-core" }' % ROOT,
    "acp-types": 'acp-types = { path = "%s/acp-types" }' % ROOT,
    "agent-client-protocol-schema": 'agent-client-protocol-schema = "=1.17.0"',
    "acp-types, async": 'acp-types = { path = "%s/acp-types", features = ["async"] }' % ROOT,
    "agent-client-protocol": 'agent-client-protocol = "=5.2.0"',
    "mcp-bridge": 'mcp-bridge = { path = "%s/mcp-bridge" }' % ROOT,
    "rmcp, server": 'rmcp = { version = "=3.11.0", features = ["server"] }',
    "agui-types": 'agui-types = { path = "%s/agui-types" }' % ROOT,
    "ag-ui-client": 'ag-ui-client = "=0.1.0"',
}


def run(arguments, folder, **variables):
    """Runs a command. Returns its CPU seconds, and the memory of its largest process in MiB."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CARGO_PROFILE_")}
    process = subprocess.Popen(arguments, cwd=folder, env=inherited | variables, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(said)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measure(name, dependency):
    """Builds a program with both profiles, and returns its row."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "src").mkdir()
        (folder / "src/main.rs").write_text('fn main() {\n    println!("Hello");\n}\n')
        (folder / "Cargo.toml").write_text(
            '[package]\nname = "program"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n' + dependency + "\n"
        )
        run(["cargo", "fetch", "--quiet"], folder)
        crates = subprocess.run(
            ["cargo", "tree", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"],
            cwd=folder, capture_output=True, text=True, check=True,
        ).stdout.splitlines()
        row = [name, str(len({crate.removesuffix(" (*)") for crate in crates}) - 1)]
        for profile in [], ["--release"]:
            cpu, peak = run(
                ["cargo", "build", "--quiet", "--offline", *profile], folder,
                CARGO_TARGET_DIR=str(folder / "target"), CARGO_INCREMENTAL="0",
            )
            row += [f"{cpu:.0f}", f"{peak:.0f}"]
            print(name, *profile, f"{cpu:.1f} s, {peak:.0f} MiB", file=sys.stderr)
    return row


def main():
    chosen = sys.argv[1:] or list(PROGRAMS)
    rows = [measure(name, PROGRAMS[name]) for name in chosen]
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    load = os.getloadavg()[2]
    lines = [
        "# Cost of a clean build",
        "",
        f"Written by `interop/benches/builds.py` on {date.today()}, rustc {compiler}, {platform.machine()}, "
        f"{os.cpu_count()} processors.",
        "",
        "- Each program prints a line, and has one dependency in the version of the script.",
        "- CPU seconds of cargo with its child processes; memory of the largest rustc in MiB.",
        f"- The load was {load:.1f} in the last 15 minutes. With a load far above the number of processors, CPU seconds grow by a",
        "  third. The figures of one run are comparable.",
        "",
        "| dependency | crates | dev, s | dev, MiB | release, s | release, MiB |",
        "|---|---|---|---|---|---|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    (HERE / "BUILDS.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
