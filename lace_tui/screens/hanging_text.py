"""Text that is longer than its lines: it breaks between its parts first, and what goes on stands further in.

A part is what three spaces part from the next one, such as a count. Textual breaks at any space, and goes on at the
left edge, where a new line of a row seems to begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.visual import RenderOptions, Visual

from lace_tui.words.inert import width_of

if TYPE_CHECKING:
    from textual.css.styles import RulesMap
    from textual.strip import Strip
    from textual.style import Style

__all__ = ["Hanging", "hung"]

_GAP = "   "  # between two parts
_DEEPER = 2  # cells


class Hanging(Visual):
    """Lines that hang, as wide as what shows them; none is broken where that cuts lines off.

    Args:
        content: the lines.
        sign: stands over the beginning of the first one, which has room for it.
    """

    def __init__(self, content: Content, sign: Content = Content("")) -> None:
        self._content, self._sign = content, sign
        self._made: tuple[int, Content] = -1, content

    @property
    def plain(self) -> str:
        """The text in lines as they were given."""
        return self._signed(self._content).plain

    def get_optimal_width(self, rules: RulesMap, container_width: int) -> int:
        """Return how wide it is where nothing is broken."""
        return self._content.get_optimal_width(rules, container_width)

    def get_height(self, rules: RulesMap, width: int) -> int:
        """Return how many lines it has at a width."""
        return self._at(rules, width).get_height(rules, width)

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        """Return its lines as they are drawn."""
        return self._at(options.rules, width).render_strips(width, height, style, options)

    def _at(self, rules: RulesMap, width: int) -> Content:
        wanted = -1 if rules.get("text_wrap") == "nowrap" else width
        if wanted != self._made[0] or wanted < 0:
            self._made = wanted, self._signed(self._content if wanted < 0 else hung(self._content, width))
        return self._made[1]

    def _signed(self, content: Content) -> Content:
        return self._sign + content[len(self._sign) :] if self._sign else content


def hung(text: Content, width: int) -> Content:
    """Return the lines, with those that are wider than `width` cells broken."""
    lines = text.split("\n", allow_blank=True)
    return Content("\n").join(piece for line in lines for piece in _broken(line, width))


def _broken(line: Content, width: int) -> list[Content]:
    if width_of(line.plain) <= width:
        return [line]
    inside = len(line.plain) - len(line.plain.lstrip(" "))
    hang = inside + _DEEPER
    if hang > width // 2:  # no room for anything but the text
        return [line]
    found = []
    for part in _packed(line[inside:], width - inside):
        first = part.wrap(width - inside)[0]
        rest = part[len(first) :]
        rest = rest[len(rest.plain) - len(rest.plain.lstrip(" ")) :]
        found.append(Content(" " * inside) + first)
        found += [Content(" " * hang) + piece for piece in rest.wrap(width - hang)] if rest.plain else []
    return found


def _packed(line: Content, width: int) -> list[Content]:
    """Return the parts of a line in as few lines as they fit into."""
    packed: list[Content] = []
    for part in line.split(_GAP, allow_blank=True):
        together = Content(_GAP).join([packed[-1], part]) if packed else part
        if packed and width_of(together.plain) <= width:
            packed[-1] = together
        else:
            packed.append(part)
    return packed
