"""One turn: prompts, updates, questions and messages that arrive meanwhile, until the harness has answered all."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Any

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.content import AgentInput
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.results import Result

from .config import HarnessConfig
from .errors import HarnessFailed
from .permissions import CANCELLED, answer_question
from .prompts import build_prompt
from .session import HarnessSession
from .updates import UpdateReader

STEERING_SECONDS = 1.0
MAX_QUESTIONS = 16
FINISH_REASONS = {"max_tokens": "length", "max_turn_requests": "tool_limit"}
CUT_OFF_NOTE = "(The previous turn was cut off before it ended.)"


class HarnessTurn:
    """Runs one turn in a session. Only one prompt at a time is open: a second one breaks most harnesses."""

    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI, config: HarnessConfig, session: HarnessSession) -> None:
        self._ctx = ctx
        self._api = api
        self._config = config
        self._session = session
        self._reader = UpdateReader(session.process.working_directory)
        self._results: asyncio.Queue[Result | None] = asyncio.Queue()
        self._waiting: list[list[dict[str, Any]]] = []
        """Prompts of messages that came meanwhile and that the harness can't take into its turn."""
        self._questions: dict[Any, asyncio.Task[dict[str, Any]]] = {}
        self._is_cancelled = False
        self._prompt: asyncio.Task[dict[str, Any]] | None = None

    async def run(self, was_cut_off: bool) -> AsyncGenerator[Result, None]:
        """Yields the results. Closed early, it cancels the turn in the harness."""
        session = self._session
        session.transport.turn_bytes = 0
        session.on_update, session.on_question, session.on_withdrawn = self._read, self._answer, self._withdraw
        driving = asyncio.create_task(self._drive(was_cut_off))
        driving.add_done_callback(lambda task: self._results.put_nowait(None))
        steering = asyncio.create_task(self._steer())
        try:
            while (result := await self._results.get()) is not None:
                yield result
            reason = driving.result()
            for result in self._end(reason):
                yield result
        finally:
            steering.cancel()
            if not driving.done():
                await self._cancel(driving)
            session.on_update = session.on_question = session.on_withdrawn = None

    async def _drive(self, was_cut_off: bool) -> str:
        """Sends the prompts one after the other and returns why the last one ended."""
        blocks = await build_prompt(self._api, self._ctx.input, self._session)
        if was_cut_off:
            blocks.insert(0, {"type": "text", "text": CUT_OFF_NOTE})
        if not blocks:
            raise HarnessFailed("acp.input", "there is nothing in this message that the harness can read")
        reason = ""
        while blocks:
            params = {"sessionId": self._session.session_id, "prompt": blocks}
            self._prompt = asyncio.create_task(self._session.request("session/prompt", params))
            answer = await asyncio.shield(self._prompt)
            self._reader.read_answer(answer)
            reason = str(answer.get("stopReason") or "end_turn")
            await self._pull()
            blocks = self._waiting.pop(0) if self._waiting and reason == "end_turn" else []
            if blocks:
                self._add(*self._reader.end_message())
        return reason

    def _end(self, reason: str) -> list[Result]:
        message = list(self._reader.end_message())
        if reason == "cancelled":
            return [*message, results.failed("cancelled", "the harness was cancelled")]
        if not self._reader.has_text:
            if reason == "refusal":
                return [results.failed("acp.refused", f"{self._session.preset.label} refused to answer")]
            detail = f": {self._reader.last_error}" if self._reader.last_error else ""
            return [results.failed("runner.no_output", f"{self._session.preset.label} gave no answer{detail}")]
        finish: Any = FINISH_REASONS.get(reason, "stop")
        return [*message, results.finished(finish, usage=self._reader.usage)]

    def _add(self, *found: Result) -> None:
        for result in found:
            self._results.put_nowait(result)

    def _read(self, update: dict[str, Any]) -> None:
        self._add(*self._reader.read(update))

    async def _answer(self, params: dict[str, Any]) -> dict[str, Any]:
        """Answers a question of the harness. After a cancellation every question is answered with `cancelled`."""
        call = params.get("toolCall") if isinstance(params.get("toolCall"), dict) else {}
        options = params.get("options") if isinstance(params.get("options"), list) else []
        if self._is_cancelled or len(self._questions) >= MAX_QUESTIONS or call is None or options is None:
            return CANCELLED
        self._add(*self._reader.read_tool({**call, "status": None}))
        known = self._reader.known(call)
        task = asyncio.create_task(answer_question(self._api, self._config, known, options))
        request_id = params.get("_id")
        self._questions[request_id] = task
        try:
            return await task
        except asyncio.CancelledError:
            return CANCELLED
        finally:
            self._questions.pop(request_id, None)

    def _withdraw(self, request_id: Any) -> None:
        task = self._questions.get(request_id)
        if task is not None:
            task.cancel()

    async def _steer(self) -> None:
        """Takes up messages that arrive during the turn."""
        while self._ctx.context.available_apis.steering_pull:
            await asyncio.sleep(STEERING_SECONDS)
            await self._pull()

    async def _pull(self) -> None:
        if not self._ctx.context.available_apis.steering_pull:
            return
        with contextlib.suppress(AgentAPIException):
            for item in await self._api.steering.pull():
                await self._take_up(item.input)

    async def _take_up(self, given: AgentInput) -> None:
        blocks = await build_prompt(self._api, given, self._session)
        if blocks and not (self._session.steers and await self._steered(blocks)):
            self._waiting.append(blocks)

    async def _steered(self, blocks: list[dict[str, Any]]) -> bool:
        """Adds a message to the running turn. Returns False if the harness did not take it."""
        meta = {"steering": {"idleBehavior": "promptRequired"}}
        params = {"sessionId": self._session.session_id, "prompt": blocks, "_meta": meta}
        try:
            answer = await self._session.request("_session/steering", params)
        except HarnessFailed:
            return False
        return answer.get("outcome") == "injected"

    async def _cancel(self, driving: "asyncio.Task[str]") -> None:
        """Cancels the turn: first the harness is told, then every open question is answered, then it has some time."""
        self._is_cancelled = True
        await self._session.notify("session/cancel", {"sessionId": self._session.session_id})
        for question in list(self._questions.values()):
            question.cancel()
        if self._prompt is not None:
            await asyncio.wait({self._prompt}, timeout=self._config.cancel_seconds)
            self._prompt.cancel()
        driving.cancel()
        await asyncio.wait({driving})
