"""What becomes of git where lace is killed while a host keeps it waiting (faults 5, 15 and 34)."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

_BEGUN = """
import os, sys
from pathlib import Path
from transports.git.command import GitRunner
from transports.git.place import GitPlace
listen = GitRunner._listen
GitRunner._listen = lambda *words: print("waits", flush=True) or listen(*words)
GitPlace.create(sys.argv[1], Path(sys.argv[2]), entropy=os.urandom)
"""
_GIVEN_UP = 60  # seconds; git would wait for ever


@pytest.mark.skipif(sys.platform == "win32", reason="there no process ends with another")
def test_a_talk_ends_with_the_process_that_began_it(tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        uri = f"git://127.0.0.1:{server.getsockname()[1]}/v"
        began = subprocess.Popen([sys.executable, "-c", _BEGUN, uri, str(tmp_path / "a")], stdout=subprocess.PIPE)
        server.settimeout(_GIVEN_UP)
        line, _ = server.accept()
        with closing(line), began:
            assert began.stdout is not None
            assert began.stdout.readline() == b"waits\n"
            line.settimeout(_GIVEN_UP)
            assert line.recv(1 << 16)
            began.kill()  # by a signal that nothing can answer
            while line.recv(1 << 16):  # what git had asked before
                pass
