"""The app's style sheet: each source is read once for each theme.

Textual reads every source anew for each screen that is shown first, twice: two fifths of the time that a place takes
to come up for the first time. What it keeps of a source holds as long as the colours do, and is taken here.
"""

from __future__ import annotations

from textual.css.stylesheet import Stylesheet

__all__ = ["Styles"]


class Styles(Stylesheet):
    """A style sheet that reads a source again only where the colours changed.

    Args:
        variables: the theme's colours by name.
    """

    def __init__(self, *, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._colours = variables

    def set_variables(self, variables: dict[str, str]) -> None:
        """Take a theme's colours; what was read holds where they are the same."""
        if variables != self._colours:
            self._colours = variables
            super().set_variables(variables)

    def reparse(self) -> None:
        """Put the rules together again; reads only what was not read with these colours.

        Raises:
            StylesheetParseError: a source is wrong.
        """
        self.parse()
