"""A friend who serves: `lace serve` as a process of its own, on the loopback."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.people import ROOT, Person

__all__ = ["Server", "serving"]


@dataclass
class Server:
    """A running server.

    Args:
        uri: what friends add as a place.
        port: on 127.0.0.1.
        process: the program.
        told: what it said of each visit, once it has stopped.
    """

    uri: str
    port: int
    process: subprocess.Popen[bytes]
    told: list[dict[str, object]] = field(default_factory=list)


@contextmanager
def serving(person: Person, *options: str) -> Iterator[Server]:
    """Let somebody serve for the block, and stop as a person does; it must end in peace."""
    words = [sys.executable, "-m", "lace_tui", "--json", "serve", "--listen", "127.0.0.1:0", *options]
    process = subprocess.Popen(
        words,
        cwd=person.folder,
        env=person.variables | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate()[1].decode())
    said = json.loads(line)
    server = Server(said["listening"], said["port"], process)
    try:
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate(timeout=30)
    server.told += map(json.loads, told.splitlines())
    assert process.returncode == 0, errors.decode()
    assert b"Traceback" not in errors, errors.decode()
