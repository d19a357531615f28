"""Keeps the history within its budget: older messages become a summary in state, reused until it no longer suffices.

A summary is made from the previous one and the messages since then, by a model, or without one if that fails.
"""

import time
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from parlour_sdk import results
from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.state import CHECKPOINT_KEY, CompactionCheckpoint
from parlour_sdk.results import Result

from ..values import dataclass
from . import context_budget, model_call, token_estimates
from .errors import TurnError
from .history import TAIL_ITEMS, HistoryItem, HistoryTail, TranscriptReader, UnusableCursor
from .models import ModelChain

SCHEMA_VERSION = 1
RECENT_ITEMS = TAIL_ITEMS // 2
"""Messages that are kept unchanged besides a summary; with more, the next messages would soon require another one."""
MAX_PAGES = 10
"""Maximum of history pages read for one summary."""
MAX_LINE_CHARACTERS = 2000
EXCERPT_CHARACTERS = 40, 160
"""Minimum and maximum characters of each message in a summary without a model."""
MAX_SOURCE_TOKENS = 32_000
"""Maximum tokens of the messages that one summary is made of."""
INSTRUCTION_TOKENS = 500
INSTRUCTIONS = """\
You keep the memory of a conversation. Write a summary that lets an assistant go on with it as if it had read all of it:
who the people are, what they want and like, facts, numbers, names, decisions, promises, open questions. Leave out
greetings and repetitions. Write in the language of the conversation, in at most {words} words, and nothing but the
summary."""


@dataclass(frozen=True, slots=True)
class CompactedHistory:
    """The history that the model receives, and the results that store its summary."""

    items: Sequence[HistoryItem] = ()
    summary: str = ""
    results: tuple[Result, ...] = ()


def read_checkpoint(ctx: AgentRunContext) -> CompactionCheckpoint | None:
    """Returns the checkpoint in state; None if it is invalid or of another schema or conversation."""
    try:
        checkpoint = CompactionCheckpoint.model_validate(ctx.state.conversation.get(CHECKPOINT_KEY))
    except ValidationError:
        return None
    is_usable = (
        checkpoint.schema_version == SCHEMA_VERSION and checkpoint.conversation_id == ctx.context.conversation_id
    )
    return checkpoint if is_usable and checkpoint.summary.strip() and checkpoint.covers_until else None


class HistoryCompactor:
    """Reads the history of a run and compacts it: first `tail`, then `compact` with the tokens that it may have."""

    def __init__(self, ctx: AgentRunContext, history: TranscriptReader, models: ModelChain) -> None:
        self._ctx = ctx
        self._history = history
        self._models = models
        self._checkpoint = read_checkpoint(ctx)

    async def tail(self) -> HistoryTail:
        """Reads the history after the checkpoint, or the latest part if there is no usable checkpoint."""
        if self._checkpoint is not None:
            try:
                return await self._history.tail(self._checkpoint.covers_until)
            except UnusableCursor:
                self._checkpoint = None
        return await self._history.tail()

    async def compact(self, tail: HistoryTail, tokens: int) -> CompactedHistory:
        """Returns the tail as it is if it fits, else the newest part of it and a summary of the rest."""
        summary = self._checkpoint.summary if self._checkpoint else ""
        limit = tail.token_ratio.to_estimated(tokens)
        if tail.older_cursor is None and token_estimates.estimate_text(summary) + tail.tokens <= limit:
            return CompactedHistory(tail.items, summary)
        if not self._ctx.context.available_apis.state:
            return CompactedHistory(_newest_items(tail.items, limit))
        return await self._summarize(tail, summary, limit)

    async def _summarize(self, tail: HistoryTail, summary: str, limit: int) -> CompactedHistory:
        recent = _newest_items(tail.items[-RECENT_ITEMS:], limit // 2)
        covered = [*await self._read_older(tail), *tail.items[: len(tail.items) - len(recent)]]
        cursor = next((each.cursor for each in reversed(covered) if each.cursor), None)
        if cursor is None:
            return CompactedHistory(recent, summary)
        new_summary = await self._summary(summary, covered, limit // 4)
        tokens = token_estimates.estimate_text(summary) + sum(each.tokens for each in covered)
        value = self._checkpoint_value(new_summary, cursor, tokens)
        return CompactedHistory(recent, new_summary, (results.state_updated("conversation", CHECKPOINT_KEY, value),))

    async def _read_older(self, tail: HistoryTail) -> list[HistoryItem]:
        after = self._checkpoint.covers_until if self._checkpoint else None
        items: list[HistoryItem] = []
        cursor, pages = tail.older_cursor, 0
        while cursor is not None and pages < MAX_PAGES:
            page = await self._history.older(cursor, after)
            items[:0] = page.items
            cursor, pages = page.older_cursor, pages + 1
        return items

    async def _summary(self, previous: str, covered: Sequence[HistoryItem], tokens: int) -> str:
        source_tokens = min(
            MAX_SOURCE_TOKENS, context_budget.prompt_tokens(self._models.primary) or MAX_SOURCE_TOKENS
        ) - token_estimates.estimate_text(previous)
        lines = _newest_lines(
            [_line(each.message, MAX_LINE_CHARACTERS) for each in covered], source_tokens - INSTRUCTION_TOKENS
        )
        sections = [f"The summary so far:\n{previous}"] if previous else []
        sections.append("What was said since:\n" + "\n".join(lines) if previous else "\n".join(lines))
        instructions = INSTRUCTIONS.format(words=max(50, tokens // 2))
        prompt = [Message(role="system", content=instructions), Message(role="user", content="\n\n".join(sections))]
        try:
            text = await model_call.request_text(self._models, prompt)
        except TurnError:
            return excerpt(previous, [each.message for each in covered], tokens)
        return _truncate(text, tokens)

    def _checkpoint_value(self, summary: str, cursor: str, tokens: int) -> dict[str, Any]:
        return CompactionCheckpoint(
            schema_version=SCHEMA_VERSION,
            summary=summary,
            covers_until=cursor,
            tokens_before=tokens,
            created_at=int(time.time() * 1000),
            conversation_id=self._ctx.context.conversation_id or "",
        ).model_dump()


def excerpt(previous: str, covered: Sequence[Message], tokens: int) -> str:
    """Makes a summary without a model: the old one, and the beginning of each of the latest messages."""
    shortened = _truncate(previous, tokens // 2)
    remaining = max(1, tokens - token_estimates.estimate_text(shortened))
    min_characters, max_characters = EXCERPT_CHARACTERS
    characters = max(min_characters, min(max_characters, 3 * remaining // max(1, len(covered))))
    lines = _newest_lines([_line(each, characters) for each in covered], remaining)
    return "\n".join([*([shortened] if shortened else []), *lines])


def _newest_items(history_items: Sequence[HistoryItem], tokens: int) -> Sequence[HistoryItem]:
    return history_items[
        len(history_items) - len(context_budget.newest_messages([each.message for each in history_items], tokens)) :
    ]


def _newest_lines(lines: Sequence[str], tokens: int) -> list[str]:
    """Returns the last lines that fit, but at least one, so that the summary is not empty."""
    start = max(0, len(lines) - 1)
    remaining = tokens - token_estimates.estimate_text(lines[start]) if lines else 0
    while start and (remaining := remaining - 1 - token_estimates.estimate_text(lines[start - 1])) >= 0:
        start -= 1
    return list(lines[start:])


def _line(message: Message, characters: int) -> str:
    text = " ".join(plain_text(message.content).split())
    return f"{message.role}: {text if len(text) <= characters else text[:characters] + '...'}"


def _truncate(text: str, tokens: int) -> str:
    """Cuts a text to its beginning if it has more tokens than allowed."""
    while token_estimates.estimate_text(text) > tokens:
        text = text[: len(text) * 3 // 4]
    return text
