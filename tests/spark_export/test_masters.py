"""The same answers wherever Spark runs: one core, two cores, a cluster of two workers, a Connect server.

Each runs `lace report` as a process of its own, for one process holds one Spark; that of these tests has two cores.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from spark_export.audits import AUDITS
from spark_export.errors import ServerSilent, SparkFailed
from spark_export.reports import Report
from spark_export.session import java_home, java_options, spark_session
from tests.people import ROOT
from tests.spark_export import SETTINGS
from tests.spark_export.groups import Group

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARK = Path(pyspark.__file__).parent
_CLASSES = "org.apache.spark.deploy."
_PATIENCE = 90.0
_CHECKING = "signatures"  # verifies each signature in the workers' own processes


def _answers(directory: Path, scratch: Path, *where: str, name: str = "all", **more: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "lace_tui", "--json", "report", name, "--input", str(directory), *where],
        capture_output=True,
        cwd=scratch,
        env=_environ(scratch) | more,
        timeout=600,
        check=False,
    )
    assert done.returncode == 1, done.stderr.decode()
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _programs(folder: Path) -> Path:
    """Return a directory that holds every program of this machine but Java."""
    folder.mkdir()
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).iterdir() if Path(place).is_dir() else []:
            if program.name != "java":
                link = folder / program.name
                link.unlink(missing_ok=True)
                link.symlink_to(program)
    return folder


def _told_java(folder: Path, told: Path) -> Path:
    """Return a JAVA_HOME whose Java writes down what it is told, and is the one of this machine."""
    real = java_home(os.environ, folder / "real") / "bin" / "java"
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f'#!/bin/sh\necho "$@" >> "{told}"\nexec "{real}" "$@"\n', "utf-8")
    java.chmod(0o700)
    return folder


def _environ(scratch: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK", "JAVA"))}
    return {**kept, "LACE_HOME": str(scratch / "home"), "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def _running(scratch: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    environ = _environ(scratch)
    environ["JAVA_HOME"] = str(java_home(environ, scratch))
    environ |= {"SPARK_HOME": str(_SPARK), "SPARK_LOCAL_IP": "127.0.0.1"}
    with (scratch / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            [str(_SPARK / "bin" / words[0]), *words[1:]], cwd=scratch, env=environ, stdout=log, stderr=log
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait(port: int) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)  # a server of another process; there is nothing to wait on but its port
        else:
            return
    pytest.fail(f"nothing listens on port {port}")


@pytest.fixture(scope="module")
def on_one_core(faulty: Group, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What every report says on one core, on a machine without Java: the extra brings its own."""
    folder = tmp_path_factory.mktemp("one")
    programs = _programs(folder / "bin")
    assert not shutil.which("java", path=str(programs))
    told = _answers(faulty.directory, folder, "--master", "local[1]", "--html", "past.html", PATH=str(programs))
    (written,) = told.pop("written")
    page = (folder / written).read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert all(f'id="{audit.name}"' in page for audit in AUDITS)
    return told


def test_two_cores(faulty_reports: dict[str, Report], on_one_core: dict[str, Any]) -> None:
    assert on_one_core["findings"] == 7
    told = {name: report.as_objects() for name, report in faulty_reports.items()}
    assert json.loads(json.dumps(told)) == on_one_core["reports"]


def test_a_cluster_of_two_workers(faulty: Group, on_one_core: dict[str, Any], tmp_path: Path) -> None:
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    head = ("spark-class", _CLASSES + "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    worker = ("spark-class", _CLASSES + "worker.Worker", "--host", "127.0.0.1", "-c", "1", "-m", "1g", "--webui-port")
    with _running(tmp_path, *head):
        _wait(port)
        with _running(tmp_path, *worker, "0", master), _running(tmp_path, *worker, "0", master):
            java = _told_java(tmp_path, tmp_path / "told.txt")
            chosen = {"JAVA_HOME": str(java), "JDK_JAVA_OPTIONS": "-XX:+UseParallelGC"}  # what a person chose holds
            told = _answers(faulty.directory, tmp_path, "--master", master, name=_CHECKING, **chosen)
            assert told["rows"] == on_one_core["reports"][_CHECKING]
    assert java_options(1) in (tmp_path / "told.txt").read_text("utf-8")


def test_java_compiles_well_only_what_runs_for_long() -> None:
    assert "TieredStopAtLevel=1" in java_options((16 << 20) - 1)
    assert java_options(16 << 20) == java_options(None) == ""


def test_a_connect_server(faulty: Group, on_one_core: dict[str, Any], tmp_path: Path) -> None:
    port = _free_port()
    chosen = {"spark.connect.grpc.binding.port": str(port), "spark.ui.enabled": "false", **SETTINGS}
    settings = [word for key, value in chosen.items() for word in ("--conf", f"{key}={value}")]
    serve = ("spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", *settings)
    with _running(tmp_path, *serve, "--name", "connect", "spark-internal"):
        _wait(port)
        assert _answers(faulty.directory, tmp_path, "--remote", f"sc://127.0.0.1:{port}") == on_one_core


def test_a_connect_server_that_does_not_answer_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """APP-9: pyspark by itself asks on for ten minutes."""
    monkeypatch.setattr("spark_export.session._ANSWER_SECONDS", 0.2)
    with (
        pytest.raises(ServerSilent, match=r"No Spark Connect server answers at sc://127\.0\.0\.1:"),
        spark_session(dict(os.environ), remote=f"sc://127.0.0.1:{_free_port()}"),
    ):
        pytest.fail("a session with nobody")


def test_what_is_no_address_of_a_connect_server_is_told_as_such() -> None:
    with pytest.raises(SparkFailed, match="here is no address"), spark_session(dict(os.environ), remote="here"):
        pytest.fail("a session with nobody")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_asks_a_silent_connect_server_may_end_at_once(number: int, faulty: Group, tmp_path: Path) -> None:
    """APP-9: Spark waits in calls of its own, which look at no wish to stop."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"sc://127.0.0.1:{silent.getsockname()[1]}"
        words = ["--json", "report", _CHECKING, "--input", str(faulty.directory), "--remote", where]
        asked = [sys.executable, "-m", "lace_tui", *words]
        with subprocess.Popen(asked, cwd=tmp_path, env=_environ(tmp_path), stdout=subprocess.PIPE) as process:
            try:
                silent.accept()  # it is asked now, and says nothing
                process.send_signal(number)
                told = json.loads(process.communicate(timeout=_PATIENCE)[0])
            finally:
                process.kill()
    assert (process.returncode, told["error"]["code"]) == (130, "cancelled")


def test_a_session_of_another_thread_is_shared_and_left_running(spark: SparkSession) -> None:
    """A report that the app runs in the background does not stop the Spark of the process it runs in."""

    def ask() -> int:
        with spark_session(dict(os.environ)) as session:
            return session.range(3).count()

    with ThreadPoolExecutor(1) as others:
        assert others.submit(ask).result() == 3
    assert spark.range(4).count() == 4


def test_a_session_that_did_not_start_leaves_nothing_behind(tmp_path: Path) -> None:
    """APP-10: the next one in the same process can start; the stand-in for Java went with the first."""
    code = (
        "import os\nfrom pyspark import SparkContext\nfrom spark_export.errors import SparkFailed\n"
        "from spark_export.session import spark_session\nbefore = os.environ.get('JAVA_HOME')\n"
        "try:\n    with spark_session(os.environ, master='nonsense'):\n        print('started')\n"
        "except SparkFailed:\n    print(os.environ.get('JAVA_HOME') == before, SparkContext._gateway is None)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=_environ(tmp_path), capture_output=True, check=False
    )
    assert done.stdout.decode().split() == ["True", "True"], done.stderr.decode()
