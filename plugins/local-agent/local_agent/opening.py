"""Builds the initial context of a turn: history, tools and knowledge, requested concurrently."""

import asyncio
from dataclasses import dataclass

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.knowledge import KnowledgeChunk
from parlour_sdk.results import Result

from . import budget, estimates, toolbox
from .compaction import Compaction
from .dialogue import Dialogue
from .history import Tail
from .knowledge import Knowledge
from .models import Models
from .pace import Pace
from .prompt import Prompt
from .said import Said
from .settings import Settings
from .toolbox import Toolbox


@dataclass(frozen=True, slots=True)
class Begun:
    dialogue: Dialogue
    toolbox: Toolbox
    results: tuple[Result, ...]
    """Results that store a new summary; empty if none was made."""


class Opening:
    def __init__(
        self,
        ctx: AgentRunContext,
        api: AgentRunAPI,
        settings: Settings,
        models: Models,
        prompt: Prompt,
        compaction: Compaction,
        knowledge: Knowledge,
        pace: Pace,
    ) -> None:
        self._ctx = ctx
        self._api = api
        self._settings = settings
        self._models = models
        self._prompt = prompt
        self._compaction = compaction
        self._knowledge = knowledge
        self._pace = pace

    async def begin(self, what: Said) -> Begun:
        tail, tools, chunks = await self._asked(what)
        passages = await self._knowledge.ranked(what, chunks)
        first = self._knowledge.put_beside(what, passages).message()
        taken = estimates.of_messages([*self._prompt.messages(), first]) + estimates.of_tools(tools.definitions)
        room = budget.room(self._models.primary)
        tokens = budget.for_history(self._settings.context_tokens, room, tail.measure.real(taken))
        memory = await self._compaction.memory(tail, tokens)
        return Begun(Dialogue(self._prompt.messages(memory.summary), memory.past, first), tools, memory.results)

    async def _asked(self, what: Said) -> tuple[Tail, Toolbox, list[KnowledgeChunk]]:
        tail = asyncio.ensure_future(self._compaction.tail())
        tools = asyncio.ensure_future(self._tools())
        chunks = asyncio.ensure_future(self._knowledge.found(what))
        try:
            return await asyncio.gather(tail, tools, chunks)
        finally:
            for each in (tail, tools, chunks):
                each.cancel()

    async def _tools(self) -> Toolbox:
        if not self._settings.max_tool_rounds:
            return Toolbox()
        return await toolbox.granted(self._ctx, self._api, self._pace)
