"""The door Spark looks for: with this module installed, `spark.read.format("lace")` needs no registration."""

from spark_export.datasource import DefaultSource

__all__ = ["DefaultSource"]
