"""The schemes of web addresses; apart from the rest, so that a road nobody takes costs no start."""

from __future__ import annotations

__all__ = ["PLAIN"]

PLAIN = "http+plain"  # the scheme by which a person asks for HTTP without TLS beyond this machine
