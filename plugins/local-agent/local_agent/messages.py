"""The messages of one turn: the prompt, the history, and the messages that the turn adds."""

from collections.abc import Sequence

from parlour_sdk.protocol.messages import Message

from . import context_budget, token_estimates
from .history_item import HistoryItem


class TurnMessages:
    """Collects the messages of a turn. Each is counted once, because every round sends all of them."""

    def __init__(self, above: Sequence[Message], history: Sequence[HistoryItem], first: Message) -> None:
        self._above = tuple(above)
        self._history = tuple(each.message for each in history)
        self._turn = [first]
        self._tokens = token_estimates.estimate_messages([*above, first]) + sum(each.tokens for each in history)

    def add(self, *messages: Message) -> None:
        self._turn += messages
        self._tokens += token_estimates.estimate_messages(messages)

    def fit(self, tokens: int | None) -> tuple[list[Message], int]:
        """Returns all messages, or those that fit into `tokens`, and their number of tokens."""
        if tokens is None or self._tokens <= tokens:
            return [*self._above, *self._history, *self._turn], self._tokens
        left = tokens - token_estimates.estimate_messages(self._above)
        short = [*self._above, *context_budget.fit_messages(self._history, self._turn, left)]
        return short, token_estimates.estimate_messages(short)
