"""How many tokens a text may have, where nobody counted: likely, and at most."""

from parlour.core.models.model import Model
from parlour_sdk.protocol.content import ContentElement, MediaElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage

from .dialects.arguments import written
from .dialects.base import DEFAULT_ANSWER_TOKENS
from .dialects.contents import in_words, plain

MEDIUM_TOKENS = 2000
"""A picture, a recording or a page, roughly: services count them each in their own way."""
MESSAGE_TOKENS = 8
"""What a service puts around each message."""
LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
FIRST_WIDE = 0x2E80
"""From here on, in Chinese, Japanese and Korean, a character is about a token; before it about four are."""


def likely(text: str) -> int:
    wide = sum(character >= chr(FIRST_WIDE) for character in text)
    return wide + (len(text) - wide + 3) // 4


def likely_prompt(request: InvokeModel | Embed | Rerank) -> int:
    match request:
        case InvokeModel():
            return sum(likely(plain(each.content)) for each in request.messages)
        case Embed():
            return sum(map(likely, request.texts))
        case Rerank():
            return sum(likely(request.query) + likely(text) for text in request.documents)


def at_most(model: Model, request: InvokeModel | Embed | Rerank) -> Usage:
    """A token is at least one byte. No more fits than the context window."""
    match request:
        case InvokeModel():
            prompt, completion = _prompt(request), _answer(model, request)
        case Embed():
            prompt, completion = sum(len(text.encode(errors="replace")) for text in request.texts), 0
        case Rerank():
            asked = len(request.query.encode(errors="replace"))
            prompt = sum(asked + len(text.encode(errors="replace")) for text in request.documents)
            completion = 0
    if isinstance(request, InvokeModel) and model.context_window:
        prompt = min(prompt, model.context_window)
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _prompt(request: InvokeModel) -> int:
    tools = sum(len(tool.model_dump_json()) for tool in request.tools or ())
    return tools + sum(_message(each) for each in request.messages)


def _message(message: Message) -> int:
    content = message.content
    said = _bytes(content) if isinstance(content, str) else sum(map(_element, content))
    calls = sum(_bytes(call.name) + _bytes(written(call.arguments)) for call in message.tool_calls or ())
    return MESSAGE_TOKENS + said + calls + _bytes(message.reasoning or "")


def _element(element: ContentElement) -> int:
    return MEDIUM_TOKENS if isinstance(element, MediaElement) else _bytes(in_words(element))


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))


def _answer(model: Model, request: InvokeModel) -> int:
    """Of several limits the greatest counts, and several answers count each."""
    given = {**model.parameters, **(request.extra or {})}
    settings = given.get("generationConfig")
    given |= settings if isinstance(settings, dict) else {}
    limits = [given[name] for name in LIMITS if isinstance(given.get(name), int) and given[name] > 0]
    answers = given.get("n")
    longest = max(limits) if limits else model.max_output_tokens or DEFAULT_ANSWER_TOKENS
    return longest * (answers if isinstance(answers, int) and answers > 1 else 1)
