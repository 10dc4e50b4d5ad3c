"""What can go wrong between a vault and its tables."""

from __future__ import annotations

from vault.errors import CallerError, DataError, EnvironmentFault

__all__ = [
    "BadExport",
    "ExportForeign",
    "ExtraMissing",
    "NoExport",
    "NoSuchReport",
    "NoSuchTable",
    "ServerSilent",
    "SparkFailed",
]


class ExtraMissing(EnvironmentFault):
    """A package of the extra `spark` is not installed (APP-10)."""

    code = "extra-missing"
    exit_code = 15
    hint = "In the directory that lace was installed from: pip install '.[spark]'"


class SparkFailed(EnvironmentFault):
    """Spark did not start, or stopped in the middle of an audit."""

    code = "spark-failed"
    exit_code = 16
    hint = "Try again with --master local[1]; a cluster must reach this machine and have lace installed."


class ServerSilent(EnvironmentFault):
    """No Spark Connect server answers at the address that was named."""

    code = "spark-silent"
    exit_code = 16
    hint = "Start it or correct --remote sc://HOST:PORT; without --remote the report runs on this machine."


class BadExport(DataError):
    """A directory that should hold an export does not."""

    code = "bad-export"
    exit_code = 45
    hint = "Export anew into an empty directory: lace export DIR"


class NoExport(CallerError):
    """There is no export in the directory that was named."""

    code = "no-export"
    hint = "Make one with: lace export DIR"


class ExportForeign(CallerError):
    """The directory to export into holds an export of other content under this vault's name, or other files."""

    code = "export-foreign"
    exit_code = 2
    hint = "Choose an empty directory, or one that holds exports of this group."


class NoSuchReport(CallerError):
    """There is no report of this name."""

    code = "no-such-report"
    exit_code = 2
    hint = "See all of them with: lace report --list"


class NoSuchTable(CallerError):
    """There is no table of this name."""

    code = "no-such-table"
    exit_code = 2
    hint = "The tables are listed in docs/export.md."
