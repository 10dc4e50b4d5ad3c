"""The first two transitions: one plan of two operands, and who the peer is (INT-53..65)."""

from __future__ import annotations

from typing import Final

from lazy.interlace.errors import PeerVerifierMismatch, PlanMismatch
from lazy.interlace.link import LinkConfig
from lazy.interlace.messages import Setup
from lazy.interlace.negotiate import Hello, Negotiated, negotiate
from lazy.interlace.plan import Executable, Operand, Plan, compile_plan, operand_index
from vault.records import Verifier

__all__ = ["establish", "identify", "my_setup"]

_LOCAL_ORIGIN: Final = "local"


def my_operand(config: LinkConfig) -> Operand:
    """Return the operand this side presents."""
    return Operand(config.module.id, config.source)


def my_setup(config: LinkConfig) -> Setup:
    """Return this side's setup, with the text of its module for a peer that lacks it (INT-36, INT-39).

    Raises:
        PlanCompilationFailed: both sides have the same origin.
    """
    mine, module = my_operand(config), config.module
    return Setup(operand_index(mine.origin, config.peer_source), mine, {module.id: module.text.encode()})


def establish(config: LinkConfig, theirs: Setup) -> tuple[Plan, Executable]:
    """Return the plan of both operands and what runs it here; the peer's origin is provisional (INT-63).

    Raises:
        PeerVerifierMismatch: the peer claims an origin of this side (INT-64).
        PlanMismatch: it puts the operands in another order (INT-37).
        ModuleUnavailable, MalformedModule, PlanCompilationFailed: its module cannot be run (INT-56, INT-57).
        MalformedPreparedPolicy: the executable that was kept is another plan's (INT-147).
    """
    origin, mine = theirs.operand.origin, my_operand(config)
    here = config.here.text if config.here is not None else ""
    if origin in {_LOCAL_ORIGIN, config.source, config.label, here}:
        raise PeerVerifierMismatch("The peer presents its operand as one of this side.")
    if theirs.index != operand_index(origin, mine.origin):
        raise PlanMismatch("The peer puts the operands of the exchange plan in another order.")
    name = theirs.operand.module_id
    module = config.registry.resolve(name, theirs.modules.get(name))
    plan, made = compile_plan(mine, config.module, theirs.operand, module)
    executable = config.prepared or made
    executable.check(plan)
    return plan, executable


def identify(
    config: LinkConfig, plan: Plan, claimed: str, theirs: Hello, proven: Verifier | None
) -> tuple[Negotiated, str]:
    """Return what was negotiated and the peer's source label, once its hello is proven (INT-60..65).

    Args:
        config: this side and its link.
        plan: the plan made of both operands.
        claimed: the origin the peer's operand names.
        theirs: its hello.
        proven: who the binding proved it to be.

    Raises:
        PeerVerifierMismatch: the peer, or the origin of its operand, is not who was proven (INT-64, INT-140).
        InterlaceAbort: the two hellos do not go together; see `negotiate`.
    """
    agreed = negotiate(Hello(plan.id, config.signer, config.terms), theirs, plan, proven=proven)
    if config.peer is not None and theirs.signer != config.peer:
        raise PeerVerifierMismatch(f"The peer did not prove to be {config.peer}.")
    source = theirs.signer.text if theirs.signer is not None else config.peer_label
    if claimed != source:
        raise PeerVerifierMismatch(f"The peer's operand names {claimed} as its origin instead of {source}.")
    return agreed, source
