"""What a model call cost."""

from .base import Count, Request


class Usage(Request):
    """Money is in integer micro-units of the operator's currency."""

    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cached_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cost_micros: Count | None = None
