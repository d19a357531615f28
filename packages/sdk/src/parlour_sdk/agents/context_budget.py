"""Computes the tokens available for the history, and shortens prompts that exceed a model's context window."""

from collections.abc import Sequence

from parlour_sdk.protocol.content import ContentElement, MediaElement, TextElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.text_files import MAX_INLINE_BYTES, is_document, is_inline_text

from . import excerpts, token_estimates

DEFAULT_ANSWER_TOKENS = 4096
"""Tokens reserved for the answer of a model whose maximum output is unknown."""
MIN_HISTORY_TOKENS = 200
DEFAULT_HISTORY_TOKENS = 16_000
"""Tokens for the history if neither the setting nor the model limits it."""
MIN_FILE_BYTES = 300
"""Bytes that the text of a file keeps when it is shortened."""
MIN_MESSAGE_TOKENS = 60
"""Tokens that a message keeps when it is shortened."""


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
    """Drops the oldest history first, then shortens the messages of this turn.

    Results of tools are shortened before what users wrote, and the newest message of each kind last.
    """
    fitted, remaining = list(turn), tokens - token_estimates.estimate_messages(turn)
    recent = newest_messages(history, remaining)
    if remaining < 0:
        _shorten(fitted, -remaining)
    return [*recent, *fitted]


def newest_messages(messages: Sequence[Message], tokens: int) -> list[Message]:
    """Returns as many of the last messages as fit; the first one is a user's, as not every model accepts another."""
    start = len(messages)
    while start and (tokens := tokens - token_estimates.estimate_message(messages[start - 1])) >= 0:
        start -= 1
    while start < len(messages) and messages[start].role in ("assistant", "tool"):
        start += 1
    return list(messages[start:])


def _shorten(messages: list[Message], excess: int) -> None:
    """Shortens messages in place by `excess` tokens, as far as they keep a minimum each."""
    by_role = [[index for index, each in enumerate(messages) if each.role == role] for role in ("tool", "user")]
    for index in (index for indexes in by_role for index in indexes):
        if excess <= 0:
            return
        before = token_estimates.estimate_message(messages[index])
        messages[index] = _shortened(messages[index], max(MIN_MESSAGE_TOKENS, before - excess))
        excess -= before - token_estimates.estimate_message(messages[index])


def _shortened(message: Message, tokens: int) -> Message:
    allowed = tokens - token_estimates.MESSAGE_TOKENS
    if isinstance(message.content, str):
        return message.model_copy(update={"content": excerpts.to_tokens(message.content, allowed)})
    message = message.model_copy(update={"content": _with_less_of_files(message.content, allowed)})
    assert not isinstance(message.content, str)
    texts = [each for each in message.content if isinstance(each, TextElement)]
    other = token_estimates.estimate_message(message) - sum(token_estimates.estimate_text(each.text) for each in texts)
    elements: list[ContentElement] = []
    for each in message.content:
        if isinstance(each, TextElement):
            share = max(1, allowed - other) // max(1, len(texts))
            each = each.model_copy(update={"text": excerpts.to_tokens(each.text, share)})
        elements.append(each)
    return message.model_copy(update={"content": elements})


def _with_less_of_files(content: Sequence[ContentElement], tokens: int) -> list[ContentElement]:
    """Limits the text of files to half of the tokens."""
    files = [each for each in content if isinstance(each, MediaElement) and (is_document(each) or is_inline_text(each))]
    share = max(MIN_FILE_BYTES, tokens // 2 * token_estimates.BYTES_PER_TOKEN // max(1, len(files)))
    elements: list[ContentElement] = []
    for each in content:
        if isinstance(each, MediaElement) and each in files and (each.size_bytes or share) >= share:
            each = each.model_copy(update={"text_bytes": min(share, each.text_bytes or MAX_INLINE_BYTES)})
        elements.append(each)
    return elements
