"""A message of the history, with its position in the transcript and its size in tokens."""

from dataclasses import dataclass

from parlour_sdk.protocol.messages import Message

from . import estimates


@dataclass(frozen=True, slots=True)
class Past:
    message: Message
    cursor: str | None
    tokens: int

    @classmethod
    def of(cls, message: Message, cursor: str | None = None) -> "Past":
        return cls(message, cursor, estimates.of_message(message))
