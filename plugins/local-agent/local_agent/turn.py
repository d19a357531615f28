"""One turn of the local agent: requests history, tools and knowledge concurrently, then runs the tool loop."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from parlour_sdk.agents import context_budget, skills, token_estimates
from parlour_sdk.agents.compaction import HistoryCompactor
from parlour_sdk.agents.history import HistoryTail, TranscriptReader
from parlour_sdk.agents.interim import InterimTexts
from parlour_sdk.agents.knowledge import KnowledgeSearch, latest_question
from parlour_sdk.agents.model_health import ModelHealth
from parlour_sdk.agents.models import ModelChain
from parlour_sdk.agents.platform_tools import platform_tools
from parlour_sdk.agents.steering import SteeringReader
from parlour_sdk.agents.template_variables import TemplateVariables
from parlour_sdk.agents.tool_calls import RunTools
from parlour_sdk.agents.tool_loop import ToolLoop
from parlour_sdk.agents.tools import Toolbox, ToolDetails
from parlour_sdk.agents.turn_messages import TurnMessages
from parlour_sdk.agents.user_message import UserMessage
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.knowledge import KnowledgeChunk
from parlour_sdk.results import Result

from .own_tools import own_tools
from .prompt import Prompt
from .settings import LocalAgentSettings


@dataclass(frozen=True, slots=True)
class ProcessMemory:
    """What the agent keeps between runs; it is lost with the process, and learned again."""

    health: ModelHealth
    details: ToolDetails


class AgentTurn:
    def __init__(
        self, ctx: AgentRunContext, api: AgentRunAPI, settings: LocalAgentSettings, memory: ProcessMemory
    ) -> None:
        self._ctx = ctx
        self._api = api
        self._settings = settings
        self._models = ModelChain(ctx, api, settings.models, settings.streaming, settings.show_thinking, memory.health)
        self._models.set_parameters(settings.parameters)
        self._knowledge = KnowledgeSearch(ctx, api, settings.knowledge)
        self._prompt = Prompt(ctx, settings.prompt, TemplateVariables(ctx), settings.guidance)
        self._history = TranscriptReader(ctx, api, settings.group_context)
        self._compactor = HistoryCompactor(ctx, self._history, self._models.preferring(settings.summary_model))
        self._tools = RunTools(ctx, api, details=memory.details)
        self._loop = ToolLoop(
            self._models,
            self._tools,
            SteeringReader(ctx, api),
            self._knowledge,
            settings.max_tool_rounds,
            InterimTexts(settings.interim if ctx.trigger.source == "platform" else "all"),
            self._compactor,
        )

    async def results(self, user_message: UserMessage) -> AsyncGenerator[Result, None]:
        prompt_limit = context_budget.prompt_tokens(self._models.primary)
        most = context_budget.history_tokens(self._settings.context_tokens, prompt_limit, 0)
        tail, toolbox, (before, chunks), active_skills = await self._gather(user_message, most)
        self._prompt.set_active_skills(active_skills)
        user_message = UserMessage.from_event(self._ctx, self._settings.event_templates, self._history.members)
        passages = await self._knowledge.rerank(user_message, chunks, before)
        question = replace(self._knowledge.attach(user_message, passages), facts=self._prompt.facts())
        first_message, prompt = question.to_message(), self._prompt.messages()
        used_tokens = token_estimates.estimate_messages([*prompt, first_message]) + token_estimates.estimate_tools(
            toolbox.definitions
        )
        tokens = context_budget.history_tokens(
            self._settings.context_tokens, prompt_limit, tail.token_ratio.to_real(used_tokens)
        )
        history = self._compactor.compact(tail, tokens)
        messages = TurnMessages([*prompt, *self._prompt.note(history.summary)], history.items, first_message)
        self._compactor.start(tail, tokens)
        try:
            async with aclosing(self._loop.results(messages, toolbox)) as loop_results:
                async for result in loop_results:
                    yield result
        finally:
            await self._compactor.finish()

    async def _gather(
        self, user_message: UserMessage, tokens: int
    ) -> tuple[HistoryTail, Toolbox, tuple[str, list[KnowledgeChunk]], str]:
        if not (self._knowledge.has_bases or self._ctx.resources.skills or self._tools.must_load):
            return (
                await self._compactor.tail(tokens),
                await self._load_tools(),
                ("", []),
                "",
            )  # tasks would only cost time
        tail = asyncio.ensure_future(self._compactor.tail(tokens))
        toolbox = asyncio.ensure_future(self._load_tools())
        chunks = asyncio.ensure_future(self._search(user_message, tail))
        active_skills = asyncio.ensure_future(skills.active_section(self._ctx, self._api))
        try:
            return await asyncio.gather(tail, toolbox, chunks, active_skills)
        finally:
            for each in (tail, toolbox, chunks, active_skills):
                each.cancel()

    async def _search(
        self, user_message: UserMessage, tail: asyncio.Future[HistoryTail]
    ) -> tuple[str, list[KnowledgeChunk]]:
        """Returns the passages about the message, and the question before it if the message may depend on that."""
        if not self._knowledge.needs_context(user_message):
            return "", await self._knowledge.search(user_message)
        before = latest_question((await asyncio.shield(tail)).items)
        return before, await self._knowledge.search(user_message, before)

    async def _load_tools(self) -> Toolbox:
        if not self._settings.max_tool_rounds:
            return Toolbox()
        own = own_tools(self._ctx, self._api) if self._settings.guidance else ()
        return await self._tools.load([*own, *platform_tools(self._ctx, self._api)])
