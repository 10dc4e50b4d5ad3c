"""Why a machine was not reached, in words for people."""

from __future__ import annotations

import http.client
import ssl

__all__ = ["why_unreached"]


def why_unreached(error: Exception) -> str:
    """Return what a failed call to another machine says, without a full stop (INT-122)."""
    if isinstance(error, UnicodeError):
        return "no machine can be called so"  # Python tells of the codec that it tried
    if isinstance(error, http.client.RemoteDisconnected):  # which the library takes for a bad answer too
        return "it hung up without an answer"
    is_endless = type(error) is http.client.HTTPException or isinstance(error, http.client.LineTooLong)  # its head
    if is_endless or isinstance(error, http.client.BadStatusLine | http.client.UnknownProtocol):
        return "what answers there does not speak HTTP/1.1"  # the words of the answer are the peer's own
    if isinstance(error, ssl.SSLError):  # what OpenSSL says names a line of its source
        is_cut = isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        return "the line was cut" if is_cut else "what answers there speaks no TLS 1.2 or newer"
    said = (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")
    return f"{said[:1].lower()}{said[1:]}"
