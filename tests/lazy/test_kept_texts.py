"""Texts that are in no draft any more (APP-13, LAZ-39)."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from lazy.resolving import kept_texts
from lazy.resolving.kept_texts import keep_text
from vault.files import write_atomic


def test_a_text_that_two_threads_keep_at_once_lies_in_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-13: each looked for it before the other had written it, and a person was told of two files."""

    def slowly(file: Path, content: bytes) -> None:
        time.sleep(0.2)  # so that the other one looks meanwhile
        write_atomic(file, content)

    monkeypatch.setattr(kept_texts, "write_atomic", slowly)
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(keep_text(tmp_path, 0, "a.txt", b"typed\n"))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    assert found[0].read_bytes() == b"typed\n"
    assert len(list(tmp_path.iterdir())) == 1
