"""Buffers message deltas: published immediately, written to the ledger in batches."""

from parlour_sdk.protocol.limits import MESSAGE_TEXT_BYTES

FLUSH_INTERVAL_SECONDS = 0.25
"""Seconds after which buffered deltas are written to the ledger."""
FLUSH_CHARACTERS = 32 * 1024
"""Buffered characters from which deltas are written without waiting for the timer."""


class DeltaBuffer:
    """The deltas of one run. The text kept for a message is bounded by its limit, so memory stays flat however long a
    runner streams.
    """

    def __init__(self) -> None:
        self._unpublished: list[str] = []
        self._unwritten: list[str] = []
        self._unwritten_characters = 0
        self._message: list[str] = []
        self._message_characters = 0
        self._first_sequence = 0
        self._last_sequence = 0

    def add(self, text: str, sequence: int) -> None:
        if not self._unwritten:
            self._first_sequence = sequence
        self._last_sequence = sequence
        if text:
            self._unpublished.append(text)
        self._unwritten.append(text)
        self._unwritten_characters += len(text)
        if self._message_characters < MESSAGE_TEXT_BYTES:
            self._message.append(text)
            self._message_characters += len(text)

    @property
    def is_full(self) -> bool:
        return self._unwritten_characters >= FLUSH_CHARACTERS

    @property
    def has_unwritten(self) -> bool:
        return bool(self._unwritten)

    @property
    def has_unpublished(self) -> bool:
        return bool(self._unpublished)

    def drain_unpublished(self) -> str:
        text = "".join(self._unpublished)
        self._unpublished.clear()
        return text

    def drain_unwritten(self) -> tuple[str, int, int]:
        """Returns the text since the last call, with the runner's first and last sequence number of it."""
        text = "".join(self._unwritten)
        self._unwritten.clear()
        self._unwritten_characters = 0
        return text, self._first_sequence, self._last_sequence

    def incomplete_text(self) -> str:
        """Returns the text of a message that was never completed."""
        return "".join(self._message)

    def resume(self, text: str) -> None:
        """Restores the incomplete text of a message that a previous process of the Host received."""
        self._message, self._message_characters = [text], len(text)

    def message_completed(self) -> None:
        self._message.clear()
        self._message_characters = 0
