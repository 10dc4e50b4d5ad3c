r"""An exchange as one stream of bytes each way, told apart by leading bytes (Lace-060; FAC-23, FAC-24, INT-2).

    🪢: lace-iltp/1                  the first line, once
    # ...                            a comment, passed over
    🧩: <R id> <length>              a resource: LF, so many bytes, LF; canonical text of a policy module that the
                                     other side may lack
    Predicate('constant',...)        a fact
    🖧: <hash text>                   a stored record, which itself says how long it is; nothing follows it
    ---                              the block of facts ends, and the message goes on
    --- <phase>                      the message of that phase ends; `--- transfer-end` is one without facts

Lines end with LF; an empty line is nothing. `StreamLink` is one end of such a stream around a machine: bytes in, bytes
out. Bytes may come in pieces of any size. Everything is bounded before it is held: a line and a block by the limit of
a fact block, a message by sixteen of them, a resource by the size of a module, records by what may still be
transferred. A record that cannot be told from what follows it, because its head breaks a rule, spoils the stream; one
whose data are not what its head says is rejected by the machine, and the stream goes on (INT-119).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from lazy.interlace.documents.wire import BLOCK_PHASES, awaited, decode, encode
from lazy.interlace.errors import (
    InterlaceAbort,
    MalformedFactBlock,
    MalformedModule,
    OversizedFactBlock,
    TransferLimitExceeded,
    UnexpectedResponse,
)
from lazy.interlace.facts import BlockPhase
from lazy.interlace.machine import InterlaceMachine
from lazy.interlace.messages import (
    Asks,
    Effect,
    Fault,
    FullListing,
    HelloMessage,
    Message,
    PartitionListing,
    PeerTick,
    Received,
    RequestList,
    Responses,
    Send,
    Setup,
    Start,
    Summaries,
    TransferEnd,
    Wake,
)
from lazy.interlace.plan import PolicyModule
from lazy.interlace.states import ENDED, Phase
from vault.lacegram import module_id
from vault.records import MAX_BLOB_BYTES, RecordHash, Verifier
from vault.records.errors import RecordError
from vault.records.head import BLANK, MAX_HEAD_BYTES, read_head

__all__ = ["PREFACE", "StreamLink"]

PREFACE: Final = "🪢: lace-iltp/1\n".encode()
_PIECE: Final = "🧩: ".encode()
_RECORD: Final = "🖧: ".encode()
_TRAILED: Final = "⋯🖧: ".encode()
_SEPARATOR: Final = b"---"
_TRANSFER_END: Final = "transfer-end"
_RESOURCE = re.compile(r"🧩: (R\.[0-9A-Z_a-z~]{43}) (0|[1-9][0-9]{0,6})".encode())
_MAX_RESOURCE_BYTES: Final = 256 * 1024
_MAX_RESOURCES: Final = 2
_BLOCKS_A_MESSAGE: Final = 16
_LABELS: Final[Mapping[type[Message], BlockPhase]] = MappingProxyType(
    {
        Setup: BlockPhase.SETUP,
        HelloMessage: BlockPhase.HELLO,
        Summaries: BlockPhase.ADVERTISE,
        FullListing: BlockPhase.ADVERTISE,
        Asks: BlockPhase.RECONCILE,
        PartitionListing: BlockPhase.LISTING,
        RequestList: BlockPhase.REQUEST,
        Responses: BlockPhase.RESPONSE,
    }
)
_MARKS: Final = (_PIECE, _RECORD, _TRAILED)
_LONGEST: Final = max(map(len, _MARKS))


class StreamLink:
    """One end of a stream: a machine, and bytes in and out.

    Args:
        machine: not started.
        proven: whom the binding has proven to be at the other end; None if nobody.
    """

    def __init__(self, machine: InterlaceMachine, proven: Verifier | None = None) -> None:
        self.machine = machine
        self._proven = proven
        self._buffer = bytearray()
        self._is_open = False
        self._searched = 0
        self._begin_message()

    def start(self) -> bytes:
        """Start the machine and return the first bytes to send."""
        return PREFACE + self._written(self.machine.handle(Start()))

    def wake(self, module: PolicyModule | None = None) -> bytes:
        """Begin another round of an open exchange, or an epoch with another policy, and return what to send."""
        return self._written(self.machine.handle(Wake(module)))

    def take(self, data: bytes) -> bytes:
        """Take bytes that came, in pieces of any size, and return the bytes to send; none may come of it.

        Raises:
            InterlaceAbort: the peer broke a rule; the machine is over.
        """
        if self.machine.phase in ENDED:
            return b""
        self._buffer += data
        out = bytearray()
        try:
            while self.machine.phase not in ENDED and self._step(out):
                pass
        except InterlaceAbort as error:
            if self.machine.phase not in ENDED:
                self.machine.handle(Fault(error))
            raise
        if self.machine.phase in ENDED:
            self._buffer.clear()
        return bytes(out)

    # Reading

    def _begin_message(self) -> None:
        self._blocks: list[bytes] = []
        self._block = bytearray()
        self._modules: dict[str, bytes] = {}
        self._records: list[tuple[RecordHash, bytes]] = []
        self._size = self._record_bytes = 0

    def _step(self, out: bytearray) -> bool:
        """Take one element from the buffer; return False if it is not whole yet."""
        if not self._is_open:
            return self._open()
        if self._buffer.startswith(_RECORD):
            return self._take_record()
        return self._take_line(out)

    def _take_line(self, out: bytearray) -> bool:
        if len(self._buffer) < _LONGEST and any(
            mark.startswith(self._buffer) and mark != self._buffer for mark in _MARKS
        ):
            return False
        if self._buffer.startswith(_TRAILED):
            raise UnexpectedResponse("The peer sent a record in trailer-hash form, which was not agreed.")
        limit = self.machine.limits.max_fact_block_bytes
        end = self._buffer.find(b"\n", self._searched, limit + 1)
        if end < 0:
            if len(self._buffer) > limit:
                raise OversizedFactBlock(f"A line of more than {limit} bytes came; a block has at most so many.")
            self._searched = len(self._buffer)  # or a line that trickles in would be searched again with each byte
            return False
        self._searched = 0
        line = bytes(self._buffer[:end])
        if line.startswith(_PIECE):
            return self._take_resource(line)
        del self._buffer[: end + 1]
        if line.startswith(_SEPARATOR):
            self._end_block(line, out)
        elif not line.startswith(b"#"):
            self._add_line(line + b"\n", limit)
        return True

    def _open(self) -> bool:
        if len(self._buffer) < len(PREFACE) and PREFACE.startswith(self._buffer):
            return False
        if not self._buffer.startswith(PREFACE):
            raise MalformedFactBlock("The peer does not begin with the line of an interlace stream.")
        del self._buffer[: len(PREFACE)]
        self._is_open = True
        return True

    def _add_line(self, line: bytes, limit: int) -> None:
        if len(self._block) + len(line) > limit:
            raise OversizedFactBlock(f"A fact block of more than {limit} bytes came.")
        if self._size + len(line) > limit * _BLOCKS_A_MESSAGE:
            raise OversizedFactBlock(f"A message of more than {_BLOCKS_A_MESSAGE} fact blocks came.")
        self._block += line
        self._size += len(line)

    def _take_resource(self, line: bytes) -> bool:
        """Take the text of a module that came inline (FAC-24, INT-39)."""
        match = _RESOURCE.fullmatch(line)
        if match is None or int(match[2]) > _MAX_RESOURCE_BYTES:
            raise MalformedModule("A resource block has no identifier, or no length within the limit.")
        takes_setup = self.machine.phase is Phase.SETUP or self.machine.stays_open
        if not takes_setup or len(self._modules) >= _MAX_RESOURCES:
            raise MalformedFactBlock("A resource block came where none belongs.")
        start, size = len(line) + 1, int(match[2])
        if len(self._buffer) < start + size + 1:
            return False
        if self._buffer[start + size : start + size + 1] != b"\n":
            raise MalformedModule("A resource block is not as long as it says.")
        name, text = match[1].decode(), bytes(self._buffer[start : start + size])
        try:
            is_named = module_id(text.decode()) == name
        except UnicodeDecodeError:
            is_named = False
        if not is_named:
            raise MalformedModule(f"A resource block is not the policy module {name}.")
        self._modules[name] = text
        del self._buffer[: start + size + 1]
        return True

    def _take_record(self) -> bool:
        """Take one stored record; what it claims to be is the request it answers (INT-52, INT-117)."""
        machine = self.machine
        if machine.phase is not Phase.TRANSFER:
            raise UnexpectedResponse(f"The peer sent records in the phase {machine.phase}.")
        end = self._buffer.find(BLANK, 0, MAX_HEAD_BYTES)
        if end < 0:
            if len(self._buffer) >= MAX_HEAD_BYTES:
                raise MalformedFactBlock("The head of a record does not end.")
            return False
        try:
            head = read_head(bytes(self._buffer[: end + len(BLANK)]), is_whole=True)
        except RecordError as error:
            raise MalformedFactBlock(f"A record cannot be told from what follows: {error.message}.") from error
        size = head.size + head.length
        left = machine.limits.max_total_transferred_bytes - machine.ledger.bytes_received - self._record_bytes
        if size > left or head.length > MAX_BLOB_BYTES:
            raise TransferLimitExceeded("The peer sent more record bytes than a round may have.")
        if len(self._buffer) < size:
            return False
        self._records.append((head.claimed[0], bytes(self._buffer[:size])))
        self._record_bytes += size
        del self._buffer[:size]
        return True

    def _end_block(self, line: bytes, out: bytearray) -> None:
        self._blocks.append(bytes(self._block))
        self._block.clear()
        if line == _SEPARATOR:
            if len(self._blocks) > self._size + 1:
                raise MalformedFactBlock("The peer sends empty fact blocks.")
            return
        label = line[len(_SEPARATOR) + 1 :].decode("ascii", "replace")
        if line[len(_SEPARATOR) :][:1] != b" " or label not in {*BLOCK_PHASES.values(), _TRANSFER_END}:
            raise MalformedFactBlock("A separator names no phase.")
        out += self._written(self._message_came(label))
        self._begin_message()

    def _message_came(self, label: str) -> tuple[Effect, ...]:
        machine = self.machine
        expected = awaited(machine, self._blocks)
        if label == _TRANSFER_END and not self._size and not self._records:
            return machine.handle(Received(TransferEnd()))
        if expected is None or label != expected.value:
            raise MalformedFactBlock(f"The peer ended a message of the phase {label} in the phase {machine.phase}.")
        decoded = decode(machine, self._blocks, self._modules)
        for tick in decoded.ticks:
            machine.handle(PeerTick(tick))
        message = decoded.message
        if isinstance(message, Responses):
            message = Responses(tuple(self._records), message.not_available)
        return machine.handle(Received(message, self._proven if machine.phase is Phase.HELLO else None))

    # Writing

    def _written(self, effects: Iterable[Effect]) -> bytes:
        return b"".join(self._sent(effect) for effect in effects if isinstance(effect, Send))

    def _sent(self, send: Send) -> bytes:
        message = send.message
        if isinstance(message, TransferEnd):
            return f"--- {_TRANSFER_END}\n".encode()
        machine = self.machine
        parts: list[bytes] = []
        if isinstance(message, Setup):
            for name, text in message.modules.items():
                parts.append(f"🧩: {name} {len(text)}\n".encode() + text + b"\n")
        if isinstance(message, Responses):
            parts += [stored for _, stored in message.records]
        blocks = encode(send, source=machine.config.source, limit=machine.limits.max_fact_block_bytes)
        parts.append(b"---\n".join(blocks))
        parts.append(f"--- {_LABELS[type(message)]}\n".encode())
        return b"".join(parts)
