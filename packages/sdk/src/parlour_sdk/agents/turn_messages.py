"""The messages of one turn: the prompt, the history, and the messages that the turn adds."""

import copy
from collections.abc import Sequence

from parlour_sdk.protocol.messages import Message

from . import context_budget, token_estimates
from .history import HistoryItem


class TurnMessages:
    """Collects the messages of a turn. Each is counted once, because every round sends all of them."""

    def __init__(self, prefix: Sequence[Message], history: Sequence[HistoryItem], first_message: Message) -> None:
        self._prefix = tuple(prefix)
        self._history = tuple(each.message for each in history)
        self._turn = [first_message]
        self._tokens = token_estimates.estimate_messages([*prefix, first_message]) + sum(
            each.tokens for each in history
        )

    def add(self, *messages: Message) -> None:
        """Adds messages of this turn: answers with tool calls, tool results, steering."""
        self._turn += messages
        self._tokens += token_estimates.estimate_messages(messages)

    def copy(self) -> "TurnMessages":
        """Returns the same messages, to which others can be added."""
        twin = copy.copy(self)
        twin._turn = list(self._turn)
        return twin

    def fit(self, tokens: int | None) -> tuple[list[Message], int]:
        """Returns all messages, or those that fit into `tokens`, and their number of tokens."""
        if tokens is None or self._tokens <= tokens:
            return [*self._prefix, *self._history, *self._turn], self._tokens
        remaining = tokens - token_estimates.estimate_messages(self._prefix)
        short = [*self._prefix, *context_budget.fit_messages(self._history, self._turn, remaining)]
        return short, token_estimates.estimate_messages(short)
