"""A message of the history, with its position in the transcript and its size in tokens."""

from dataclasses import dataclass

from parlour_sdk.protocol.messages import Message

from . import token_estimates


@dataclass(frozen=True, slots=True)
class HistoryItem:
    message: Message
    cursor: str | None
    tokens: int

    @classmethod
    def from_message(cls, message: Message, cursor: str | None = None) -> "HistoryItem":
        return cls(message, cursor, token_estimates.estimate_message(message))
