"""How many tokens the history may take, and what is left out of a prompt that a model could not take."""

from collections.abc import Sequence

from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.resources import ModelResource

from . import estimates

ANSWER_TOKENS = 4096
"""Kept free for the answer of a model that does not say how long it may be."""
SMALLEST_HISTORY = 200
UNKNOWN_HISTORY = 16_000
"""Where neither the setting nor the model says how much."""
CUT_CHARACTERS = 200


def room(model: ModelResource) -> int | None:
    """Tokens of a prompt that leaves room for the answer; None where the model's window is unknown."""
    window = model.context_window
    if not window:
        return None
    return window - min(model.max_output_tokens or ANSWER_TOKENS, window // 4)


def for_history(context_tokens: int, room: int | None, others: int) -> int:
    """`others` is what the rest of the prompt takes."""
    limits = [context_tokens] if context_tokens else []
    if room is not None:
        limits.append(room - others)
    return max(SMALLEST_HISTORY, min(limits, default=UNKNOWN_HISTORY))


def fitting(history: Sequence[Message], turn: Sequence[Message], tokens: int) -> list[Message]:
    """The oldest of the history goes first, then the tool results of this turn are cut, the oldest first."""
    kept, left = list(turn), tokens - estimates.of_messages(turn)
    recent = newest(history, left)
    if left < 0:
        _cut_results(kept, -left)
    return [*recent, *kept]


def newest(messages: Sequence[Message], tokens: int) -> list[Message]:
    """As many of the last messages as fit, beginning with one that is no answer: not every model takes that."""
    at = len(messages)
    while at and (tokens := tokens - estimates.of_message(messages[at - 1])) >= 0:
        at -= 1
    while at < len(messages) and messages[at].role == "assistant":
        at += 1
    return list(messages[at:])


def _cut_results(messages: list[Message], excess: int) -> None:
    for at, message in enumerate(messages):
        if excess <= 0:
            return
        if message.role == "tool" and isinstance(message.content, str) and len(message.content) > CUT_CHARACTERS:
            short = f"{message.content[:CUT_CHARACTERS]} ... (the rest was left out, it is too long to keep)"
            cut = message.model_copy(update={"content": short})
            excess -= estimates.of_message(message) - estimates.of_message(cut)
            messages[at] = cut
