"""A report as one HTML file that needs nothing else: tables of every audit, and three pictures.

The pictures are drawn as SVG from the rows of the reports: releases over time, how far each member has every log, and
who gave to whom. Every text that came from a record is escaped, and characters that turn writing around are shown as
what they are, so a name cannot write into the page or deceive its reader.
"""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from spark_export.reports import Report

__all__ = ["BEGINNING", "page"]

BEGINNING: Final = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="lace report">'
)
"""What every page begins with, and no other file."""

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1d2530; --paper: #fbfbf8; --line: #c9cdd2; --good: #2b7a78; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6e3; --paper: #16191d; --line: #434a52; --good: #6cc5bf;
  --bad: #ff8a80; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
td, th { border-bottom: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
.scroll { overflow-x: auto; } .well { color: var(--good); } .found { color: var(--bad); font-weight: 600; }
code { font-size: .78rem; } svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif;
  fill: var(--ink); } svg line, svg path { stroke: var(--line); fill: none; }
"""
_MAX_ROWS: Final = 500
_PALETTE: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999933", "#882255")
_WIDTH: Final = 900


def page(
    group: str, reports: Sequence[Report], *, exporters: int, notes: Sequence[str] = (), is_whole: bool = True
) -> Iterator[str]:
    """Yield the text of the page piece by piece.

    Args:
        group: group id.
        reports: what is shown, in order.
        exporters: how many members' exports were read.
        notes: what a reader is to know of the exports, each as a sentence or two (APP-9).
        is_whole: whether every export could be read, and counts for what it is.
    """
    by_name = {report.audit.name: report for report in reports}
    findings = sum(report.findings for report in reports)
    yield (
        f"{BEGINNING}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(group)}</title><style>{_STYLE}</style></head><body>\n"
        f"<h1>History of {_text(group)}</h1>\n<p>Read from the exports of {exporters} members. "
        f"{_verdict(findings, is_whole=is_whole)}</p>\n"
    )
    yield "".join(f'<p class="note">{_text(note)}</p>\n' for note in notes)
    pictures = (
        ("releases", "Releases over time", _timeline),
        ("vectors", "How far each member has every log", _heat_map),
        ("propagation", "Who received from whom", _graph),
    )
    for name, title, draw in pictures:
        report = by_name.get(name)
        if report is not None and (picture := draw(report.as_objects())):
            yield f"<h2>{title}</h2>\n{picture}\n"
    for report in reports:
        yield from _table(report)
    yield "</body></html>\n"


def _verdict(findings: int, *, is_whole: bool = True) -> str:
    if not findings and not is_whole:
        return '<span class="found">Nothing was found in what could be read, and that is not all.</span>'
    if not findings:
        return '<span class="well">Nothing was found that needs your eye.</span>'
    what = "finding needs" if findings == 1 else "findings need"
    return f'<span class="found">{findings} {what} your eye.</span>'


def _table(report: Report) -> Iterator[str]:
    audit = report.audit
    yield f'<h2 id="{_text(audit.name)}">{_text(audit.question)}</h2>\n'
    if not report.rows:
        yield '<p class="well">Nothing found.</p>\n' if audit.finds else "<p>Nothing to show.</p>\n"
        return
    if audit.finds:
        yield f"<p>{_verdict(report.findings)}</p>\n"
    yield '<div class="scroll"><table><thead><tr>'
    yield "".join(f"<th>{_text(name.replace('_', ' '))}</th>" for name in report.columns) + "</tr></thead><tbody>\n"
    for row in report.rows[:_MAX_ROWS]:
        cells = zip(report.columns, row, strict=True)
        yield "<tr>" + "".join(f"<td>{_cell(name, value)}</td>" for name, value in cells) + "</tr>\n"
    yield "</tbody></table></div>\n"
    if len(report.rows) > _MAX_ROWS:
        rest = len(report.rows) - _MAX_ROWS
        yield f"<p>{rest} more rows: <code>lace report {_text(audit.name)} --csv FILE</code></p>\n"


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(_text(str(item)) for item in value)
    if name == "proof":
        return "<br>".join(f"<code>{_text(word)}</code>" for word in str(value).split())
    return _text(f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value))


def _text(text: str) -> str:
    """Return text that can harm neither the page nor its reader."""
    safe = "".join(
        character
        if unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else f"\\u{ord(character):04x}"
        for character in text
    )
    return html.escape(safe)


# Pictures


def _colours(names: Iterable[str]) -> dict[str, str]:
    return {name: _PALETTE[at % len(_PALETTE)] for at, name in enumerate(sorted(set(names)))}


def _svg(height: float, parts: Iterable[str], label: str) -> str:
    body = "".join(parts)
    return f'<svg viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{_text(label)}">{body}</svg>'


def _timeline(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw one line a member, one point a release; nothing where no release has a time in the calendar."""
    placed = [(str(row["released_by"]), _seconds(row["released"]), row) for row in rows]
    told = [(name, at, row) for name, at, row in placed if at is not None]
    if not told:
        return ""
    members = sorted({name for name, _, _ in told})
    first = min(at for _, at, _ in told)
    span = max(at for _, at, _ in told) - first or 1.0
    colours = _colours(members)
    parts = []
    for index, member in enumerate(members):
        y = 24 + index * 34
        parts.append(f'<text x="0" y="{y + 4}">{_text(member[:18])}</text>')
        parts.append(f'<line x1="130" y1="{y}" x2="{_WIDTH - 20}" y2="{y}"/>')
        for name, at, row in told:
            if name == member:
                x = 130 + (at - first) / span * (_WIDTH - 150)
                title = _text(f"{row['desk']} {row['version']}, {row['released']}")
                parts.append(
                    f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{colours[member]}"><title>{title}</title></circle>'
                )
    bottom = 24 + len(members) * 34
    ends = (str(min(row["released"] for _, _, row in told))[:16], str(max(row["released"] for _, _, row in told))[:16])
    parts.append(f'<text x="130" y="{bottom}">{_text(ends[0])}</text>')
    parts.append(f'<text x="{_WIDTH - 20}" y="{bottom}" text-anchor="end">{_text(ends[1])}</text>')
    return _svg(bottom + 10, parts, "releases over time")


def _seconds(text: object) -> float | None:
    """Return a time as seconds; none where it is no time of this calendar, for whoever exported may say any."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return None


def _heat_map(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw one cell for each member and log; full colour is the newest anybody has."""
    if not rows:
        return ""
    members = sorted({str(row["member"]) for row in rows})
    about = sorted({str(row["about"]) for row in rows})
    top: dict[str, int] = {}
    for row in rows:
        top[str(row["about"])] = max(top.get(str(row["about"]), 0), row["seq"] or 0)
    side = min(70.0, (_WIDTH - 150) / max(1, len(about)))
    parts = [
        f'<text x="{150 + at * side + side / 2:.0f}" y="14" text-anchor="middle">{_text(name[:9])}</text>'
        for at, name in enumerate(about)
    ]
    found = {(str(row["member"]), str(row["about"])): row for row in rows}
    for down, member in enumerate(members):
        y = 24 + down * 30
        parts.append(f'<text x="0" y="{y + 18}">{_text(member[:20])}</text>')
        for at, name in enumerate(about):
            held = found.get((member, name))
            seq = held["seq"] or 0 if held else 0
            share = seq / top[name] if top[name] else 1.0
            sign = "!" if held and held["forked"] else ""
            x = 150 + at * side
            parts.append(
                f'<rect x="{x:.0f}" y="{y}" width="{side - 3:.0f}" height="26" fill="#0072b2"'
                f' fill-opacity="{0.08 + 0.62 * share:.2f}"/>'
                f'<text x="{x + side / 2:.0f}" y="{y + 17}" text-anchor="middle">{seq}{sign}</text>'
            )
    return _svg(34 + len(members) * 30, parts, "version vectors")


def _graph(rows: Sequence[Mapping[str, Any]]) -> str:
    """Draw the members in a circle; an arrow's width says how many releases went that way, its colour by which road."""
    if not rows:
        return ""
    members = sorted({str(row[end]) for row in rows for end in ("released_by", "arrived_at")})
    flows: dict[tuple[str, str, str], int] = {}
    for row in rows:
        key = (str(row["released_by"]), str(row["arrived_at"]), str(row["road"]))
        flows[key] = flows.get(key, 0) + 1
    radius, centre = 150.0, (_WIDTH / 2, 190.0)
    angle = {name: 2 * math.pi * at / len(members) - math.pi / 2 for at, name in enumerate(members)}
    spot = {
        name: (centre[0] + radius * math.cos(turn), centre[1] + radius * math.sin(turn)) for name, turn in angle.items()
    }
    roads = _colours(road for _, _, road in flows)
    most = max(flows.values())
    parts = []
    for (start, end, road), count in sorted(flows.items()):
        (x1, y1), (x2, y2) = spot[start], spot[end]
        bend = (centre[0] + (x1 + x2) / 2 - (y2 - y1) * 0.12 - centre[0], (y1 + y2) / 2 + (x2 - x1) * 0.12)
        title = _text(f"{start} to {end} by {road}: {count}")
        parts.append(
            f'<path d="M{x1:.0f} {y1:.0f} Q{bend[0]:.0f} {bend[1]:.0f} {x2:.0f} {y2:.0f}" stroke="{roads[road]}"'
            f' style="stroke:{roads[road]}" stroke-width="{1 + 5 * count / most:.1f}" stroke-opacity=".65">'
            f"<title>{title}</title></path>"
        )
    for name, (x, y) in spot.items():
        out = 1.16
        tx, ty = centre[0] + (x - centre[0]) * out, centre[1] + (y - centre[1]) * out
        parts.append(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="8" fill="#777"/>')
        parts.append(f'<text x="{tx:.0f}" y="{ty + 4:.0f}" text-anchor="middle">{_text(name[:18])}</text>')
    for at, (road, colour) in enumerate(sorted(roads.items())):
        parts.append(f'<rect x="0" y="{20 + at * 20}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="18" y="{30 + at * 20}">{_text(road)}</text>')
    return _svg(390, parts, "who received from whom")
