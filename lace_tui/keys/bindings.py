"""Keys as Textual takes them, from the table of actions."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from lace_tui.keys.actions import Scope, actions_of

__all__ = ["bindings_of"]


def bindings_of(*scopes: Scope) -> list[BindingType]:
    """Return the bindings of some scopes, each under its action's id."""
    return [
        Binding(",".join(action.keys), action.call.removeprefix("app."), action.title, id=action.id, show=False)
        if scope is Scope.APP
        else Binding(",".join(action.keys), action.call, action.title, id=action.id, show=False)
        for scope in scopes
        for action in actions_of(scope)
    ]
