"""A foreman that queues the text of its message, and a worker in the same process that claims and answers it.

The worker obeys the first word: `answer`, or `wait` until it is cancelled.
"""

import asyncio
from collections.abc import AsyncGenerator

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI, PluginAPI
from parlour_sdk.components import AgentRunner, Plugin
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.runs import ClaimedRun
from parlour_sdk.results import Result

RUNNER = "plugin:test/forge-agent/default"
RUNTIME = "anvil"


class Foreman(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        run = await api.runs.create(runner_id=RUNNER, event=ctx.input.text or "", queue=True)
        yield results.completed(run.run_id)


class Forge(Plugin):
    async def initialize(self, api: PluginAPI) -> None:
        self._work = asyncio.create_task(self._serve(api))

    async def close(self) -> None:
        self._work.cancel()

    async def _serve(self, api: PluginAPI) -> None:
        await api.runtimes.register(RUNTIME, slots=4)
        beats = asyncio.create_task(self._beat(api))
        try:
            async for _ in api.runtimes.wakeups(RUNTIME):
                while (claimed := await api.runtimes.claim(RUNTIME)) is not None:
                    await self._execute(api, claimed)
        finally:
            beats.cancel()

    async def _beat(self, api: PluginAPI) -> None:
        while True:
            await asyncio.sleep(5)
            await api.runtimes.heartbeat(RUNTIME)

    async def _execute(self, api: PluginAPI, claimed: ClaimedRun) -> None:
        verb, _, rest = (claimed.context.input.text or "").partition(" ")
        run_id, lease = claimed.run.run_id, claimed.lease
        if verb == "wait":
            await api.runs.append_result(run_id, results.completed("waiting"), lease, sequence=1)
            while not (await api.runtimes.renew(run_id, lease)).cancel_requested:
                await asyncio.sleep(0.05)
            return
        stale = await self._code_of(api, run_id)
        state = api.claimed(claimed).state
        await state.set("conversation", "work", rest)
        old = await self._call_code_of(api.claimed(claimed.model_copy(update={"lease": "an older lease"})))
        product = f"forged {await state.get('conversation', 'work')}"
        answer = results.completed(f"{product}, a stale lease is {stale}, a call with it {old}")
        for _ in range(2):
            await api.runs.append_result(run_id, answer, lease, sequence=1)
        await api.runs.finalize(run_id, "completed", lease=lease)

    async def _call_code_of(self, api: AgentRunAPI) -> str:
        try:
            await api.state.get("conversation", "work")
        except AgentAPIException as refused:
            return refused.error.code
        return "taken"

    async def _code_of(self, api: PluginAPI, run_id: str) -> str:
        try:
            await api.runs.append_result(run_id, results.completed("forgery"), "a stale lease", sequence=1)
        except AgentAPIException as refused:
            return refused.error.code
        return "taken"
