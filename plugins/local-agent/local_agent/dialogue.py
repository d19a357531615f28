"""The messages of one turn: the prompt, the history, and the messages that the turn adds."""

from collections.abc import Sequence

from parlour_sdk.protocol.messages import Message

from . import budget, estimates
from .past import Past


class Dialogue:
    """Collects the messages of a turn. Each is counted once, because every round sends all of them."""

    def __init__(self, above: Sequence[Message], history: Sequence[Past], first: Message) -> None:
        self._above = tuple(above)
        self._history = tuple(each.message for each in history)
        self._turn = [first]
        self._tokens = estimates.of_messages([*above, first]) + sum(each.tokens for each in history)

    def add(self, *messages: Message) -> None:
        self._turn += messages
        self._tokens += estimates.of_messages(messages)

    def within(self, tokens: int | None) -> tuple[list[Message], int]:
        """Returns all messages, or those that fit into `tokens`, and their number of tokens."""
        if tokens is None or self._tokens <= tokens:
            return [*self._above, *self._history, *self._turn], self._tokens
        left = tokens - estimates.of_messages(self._above)
        short = [*self._above, *budget.fitting(self._history, self._turn, left)]
        return short, estimates.of_messages(short)
