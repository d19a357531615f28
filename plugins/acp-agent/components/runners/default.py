"""The runner of harnesses: finds the session of a conversation and runs one turn in it."""

import asyncio
import hashlib
import uuid
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import Any

from acp_agent.config import HarnessConfig, read_config
from acp_agent.errors import HarnessFailed
from acp_agent.permissions import GATEWAY_NAME
from acp_agent.pool import current_pool
from acp_agent.session import HarnessSession, start_session
from acp_agent.turn import HarnessTurn

from parlour_sdk import results
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.components.agent_runner import ConnectionCheck
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.results import Result

SESSION, WORKSPACE, DIRECTORY, HARNESS, HOME, OPEN_TURN = (
    "external.session_id",
    "external.workspace",
    "external.working_directory",
    "external.harness",
    "external.home",
    "external.open_turn",
)
"""Keys of the state: of the conversation, and the home of the agent's."""


class AcpRunner(AgentRunner):
    async def run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        try:
            async for result in self._run(ctx, api):
                yield result
        except HarnessFailed as failure:
            yield results.failed(failure.code, failure.message, failure.retryable)

    async def test_connection(self, values: Mapping[str, Any], locale: str | None = None) -> ConnectionCheck:
        """Starts the harness in an empty folder and greets it."""
        session: HarnessSession | None = None
        try:
            config = read_config(dict(values)).model_copy(update={"workspace": ""})
            session = await start_session(current_pool().api, config, f"check-{uuid.uuid4().hex[:12]}", "check", "", [])
        except HarnessFailed as failure:
            return ConnectionCheck(failure.code, failure.message)
        finally:
            if session is not None:
                await session.close()
        info = session.about.get("agentInfo") or {}
        name = f"{info.get('title') or info.get('name') or session.preset.label} {info.get('version') or ''}".strip()
        return ConnectionCheck("", f"{name} answers and began a session.")

    async def _run(self, ctx: AgentRunContext, api: AgentRunAPI) -> AsyncGenerator[Result, None]:
        config = read_config(ctx.config)
        stored = ctx.state.conversation
        workspace = str(stored.get(WORKSPACE) or _new_workspace(ctx.context.conversation_id))
        home = await _home(api)
        earlier = str(stored.get(SESSION) or "") if stored.get(HARNESS) == config.harness else ""
        start = partial(_start, api, config, workspace, home, earlier)
        fingerprint = hashlib.sha256(repr(sorted(ctx.config.items(), key=str)).encode()).hexdigest()
        async with current_pool().session(workspace, fingerprint, start) as session:
            if session.gateway_token:
                await api.gateway.open(session.gateway_token)
            values = {
                WORKSPACE: workspace,
                HARNESS: config.harness,
                SESSION: session.session_id,
                DIRECTORY: session.process.working_directory,
                OPEN_TURN: True,
            }
            # Before the first prompt: a crash in the first turn can then be resumed.
            for key, value in values.items():
                if stored.get(key) != value:
                    yield results.state_updated("conversation", key, value)
            turn = HarnessTurn(ctx, api, config, session)
            turn_results = turn.run(was_cut_off=bool(stored.get(OPEN_TURN)) and bool(earlier))
            try:
                async for result in turn_results:
                    if result.type in ("run.completed", "run.failed"):
                        yield results.state_updated("conversation", OPEN_TURN, False)
                    yield result
            finally:
                await turn_results.aclose()


def _new_workspace(conversation_id: str | None) -> str:
    """Returns a name for a working directory. The Host deletes it with the conversation whose id it begins with."""
    name = uuid.uuid4().hex
    return f"{conversation_id}-{name[:12]}" if conversation_id else name


async def _start(api: AgentRunAPI, config: HarnessConfig, workspace: str, home: str, earlier: str) -> HarnessSession:
    """Starts a harness, with the Host's MCP server if the agent may use it."""
    token, servers = "", []
    if config.use_host:
        try:
            access = await api.gateway.open()
        except AgentAPIException as refusal:
            raise HarnessFailed("acp.gateway", f"the Host's tools are not available: {refusal.error.message}") from None
        token = access.token
        headers = [{"name": "Authorization", "value": f"Bearer {token}"}]
        servers = [{"type": "http", "name": GATEWAY_NAME, "url": access.url, "headers": headers}]
    session = await start_session(current_pool().api, config, workspace, home, earlier, servers)
    session.gateway_token = token
    return session


async def _home(api: AgentRunAPI) -> str:
    """Returns the name of the agent's home folder: what one agent is allowed for good is not allowed for another."""
    async with _HOME_LOCK:
        home = await api.state.get("binding", HOME)
        if not isinstance(home, str):
            home = uuid.uuid4().hex
            await api.state.set("binding", HOME, home)
        return home


_HOME_LOCK = asyncio.Lock()
