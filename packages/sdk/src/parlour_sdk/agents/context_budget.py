"""Computes the tokens available for the history, and shortens prompts that exceed a model's context window."""

from collections.abc import Sequence

from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.resources import ModelResource

from . import token_estimates

DEFAULT_ANSWER_TOKENS = 4096
"""Tokens reserved for the answer of a model whose maximum output is unknown."""
MIN_HISTORY_TOKENS = 200
DEFAULT_HISTORY_TOKENS = 16_000
"""Tokens for the history if neither the setting nor the model limits it."""
CUT_RESULT_CHARACTERS = 200


def prompt_tokens(model: ModelResource) -> int | None:
    """Returns the tokens that a prompt may have besides the answer; None if the model's window is unknown."""
    window = model.context_window
    if not window:
        return None
    return window - min(model.max_output_tokens or DEFAULT_ANSWER_TOKENS, window // 4)


def history_tokens(context_tokens: int, available: int | None, reserved: int) -> int:
    """Returns the tokens for the history; `reserved` is the size of the rest of the prompt."""
    limits = [context_tokens] if context_tokens else []
    if available is not None:
        limits.append(available - reserved)
    return max(MIN_HISTORY_TOKENS, min(limits, default=DEFAULT_HISTORY_TOKENS))


def fit_messages(history: Sequence[Message], turn: Sequence[Message], tokens: int) -> list[Message]:
    """Drops the oldest history first, then cuts the tool results of this turn, oldest first."""
    fitted, remaining = list(turn), tokens - token_estimates.estimate_messages(turn)
    recent = newest_messages(history, remaining)
    if remaining < 0:
        _cut_results(fitted, -remaining)
    return [*recent, *fitted]


def newest_messages(messages: Sequence[Message], tokens: int) -> list[Message]:
    """Returns as many of the last messages as fit; the first is no answer, which not every model accepts there."""
    start = len(messages)
    while start and (tokens := tokens - token_estimates.estimate_message(messages[start - 1])) >= 0:
        start -= 1
    while start < len(messages) and messages[start].role == "assistant":
        start += 1
    return list(messages[start:])


def _cut_results(messages: list[Message], excess: int) -> None:
    for index, message in enumerate(messages):
        if excess <= 0:
            return
        if message.role == "tool" and isinstance(message.content, str) and len(message.content) > CUT_RESULT_CHARACTERS:
            short = f"{message.content[:CUT_RESULT_CHARACTERS]} ... (the rest was left out, it is too long to keep)"
            shortened = message.model_copy(update={"content": short})
            excess -= token_estimates.estimate_message(message) - token_estimates.estimate_message(shortened)
            messages[index] = shortened
