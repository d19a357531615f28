"""Estimates the tokens of model calls: what one has likely used, and what one may use."""

from parlour.core.model.model_config import ANSWER_LIMITS, Model
from parlour.core.model.moderation import Moderate
from parlour_sdk import tokens
from parlour_sdk.protocol.content import ContentElement, MediaElement
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import Embed, InvokeModel, Rerank
from parlour_sdk.protocol.usage import Usage

from .dialects.base import DEFAULT_MAX_OUTPUT_TOKENS
from .dialects.common import content_text, serialize_arguments, to_text

TOKENS_PER_MEDIUM = 2000
"""Estimated tokens of a picture, a recording or a page; services count them in different ways."""
TOKENS_PER_MESSAGE = 8
"""Tokens that a service adds for each message."""


def estimate_tokens(text: str) -> int:
    return tokens.estimated(text)


def estimate_prompt_tokens(request: InvokeModel | Embed | Rerank | Moderate) -> int:
    match request:
        case InvokeModel():
            return sum(estimate_tokens(content_text(each.content)) for each in request.messages)
        case Embed() | Moderate():
            return sum(map(estimate_tokens, request.texts))
        case Rerank():
            return sum(estimate_tokens(request.query) + estimate_tokens(text) for text in request.documents)


def worst_case_usage(model: Model, request: InvokeModel | Embed | Rerank | Moderate) -> Usage:
    """Returns what a call reserves: the estimated prompt and the longest answer, within the context window."""
    match request:
        case InvokeModel():
            prompt, completion = _prompt(request), _answer(model, request)
            prompt = min(prompt, model.context_window or prompt)
        case Embed() | Rerank() | Moderate():
            prompt, completion = estimate_prompt_tokens(request), 0
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _prompt(request: InvokeModel) -> int:
    tools = sum(estimate_tokens(tool.model_dump_json()) for tool in request.tools or ())
    return tools + sum(_message(each) for each in request.messages)


def _message(message: Message) -> int:
    content = message.content
    tokens = estimate_tokens(content) if isinstance(content, str) else sum(map(_element, content))
    calls = sum(
        estimate_tokens(call.name) + estimate_tokens(serialize_arguments(call.arguments))
        for call in message.tool_calls or ()
    )
    return TOKENS_PER_MESSAGE + tokens + calls + estimate_tokens(message.reasoning or "")


def _element(element: ContentElement) -> int:
    return TOKENS_PER_MEDIUM if isinstance(element, MediaElement) else estimate_tokens(to_text(element))


def _answer(model: Model, request: InvokeModel) -> int:
    """Returns the maximum tokens of the answer.

    The greatest of several limits counts, and each of several answers counts.
    """
    options = model.with_own_parameters(request.extra)
    settings = options.get("generationConfig")
    options |= settings if isinstance(settings, dict) else {}
    limits = [options[name] for name in ANSWER_LIMITS if isinstance(options.get(name), int) and options[name] > 0]
    answers = options.get("n")
    longest = max(limits) if limits else model.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS
    return longest * (answers if isinstance(answers, int) and answers > 1 else 1)
