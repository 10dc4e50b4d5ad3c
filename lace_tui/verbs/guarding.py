"""`key protect` and `key unprotect`: whether the node's key opens with a passphrase only (APP-11)."""

from __future__ import annotations

import argparse

from lace_tui.acts.guarding import ALREADY, DIFFER, PROTECTED, PassphrasesDiffer, ProtectedAlready, protect, unprotect
from lace_tui.cli.context import Context
from lace_tui.cli.output import Answer
from vault.identity.keys import KeyLocked, KeyStore, PassphraseEmptyError
from vault.records import Verifier

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add nothing: a passphrase is never an argument, where other programs could read it."""
    del parser, verb


def run(context: Context, _: argparse.Namespace) -> Answer:
    """Do what the verb says.

    Raises:
        ProtectedAlready: it has a passphrase.
        PassphrasesDiffer: the new one was typed in two ways.
        KeyLocked: nobody can be asked, or the passphrase is wrong.
    """
    with context.open_vault() as vault:
        keys, node = vault.keys_here, vault.node
        is_protected = keys.is_protected(node)
        if context.verb == "key protect":
            if is_protected:
                _protect_again(context, keys, node)
                text = PROTECTED
            else:
                text = protect(keys, node, _new(context))
        else:
            text = unprotect(keys, node, context.passphrase_source())
        data = {"node": node, "protected": keys.is_protected(node)}
        return Answer({**data, "already": is_protected is (context.verb == "key protect")}, text)


def _protect_again(context: Context, keys: KeyStore, node: Verifier) -> None:
    """Take the passphrase that the key has for the one it shall have, which a command that was cut off gave it.

    Raises:
        ProtectedAlready: it has another, or it would have to be typed to be compared.
    """
    ask = context.passphrase_source() if "LACE_PASSPHRASE_FD" in context.environ else None
    refused = ProtectedAlready(ALREADY)
    if ask is None:
        raise refused
    try:
        keys.protect(node, ask(), ask)  # written anew, for the one before may not have come to rest on the disk
    except (KeyLocked, PassphraseEmptyError) as error:
        raise refused from error


def _new(context: Context) -> bytes:
    ask = context.passphrase_source()
    if ask is None:
        raise KeyLocked(
            "There is nobody to ask for a passphrase.",
            hint="Run it on a terminal, or give one: LACE_PASSPHRASE_FD=3 lace key protect 3<file",
        )
    first = ask()
    if "LACE_PASSPHRASE_FD" not in context.environ:
        context.say("Once more, so that no slip of a finger locks you out.")
    if ask() != first:  # from a descriptor it is one and the same line
        raise PassphrasesDiffer(DIFFER)
    return first
