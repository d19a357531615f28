"""Runs a real Host in this process with two active runs: the fuzzing plugin's own, and another's with a secret text."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path

from parlour.app.bootstrap import open_host
from parlour.app.host import Host, HostExtensions
from parlour.app.log_setup import build_redactor
from parlour.app.settings_loader import load
from parlour.core.access.rate_limit import TokenBucket
from parlour.core.model.agent import Agent
from parlour.core.model.event import EventContext, EventEnvelope, Participant
from parlour.plugin_runtime.supervision.connection import PluginDispatcher
from parlour_sdk.wire import Peer, Transport, WireLimits
from tests.support.commands import parlour_here
from tests.support.harness import ECHO, ECHO_PLUGIN, ROOT

from .corpus import PLUGIN_ID

SECRET = "eb6e1c1d-what-only-the-other-plugin-was-told"
PATIENT = f"plugin:{PLUGIN_ID}/default"
PATIENT_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "patient_agent.py"
UNCAPPED = WireLimits(frames_per_second=inf, bytes_per_second=inf)
SECONDS = 10


class ErrorLog(logging.Handler):
    """Collects the errors of the Host: every uncaught exception is a defect, whatever was sent."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(self.format(record))


@dataclass(slots=True)
class Fuzzed:
    host: Host
    own: str
    other: str
    error_log: ErrorLog

    def serve(self, transport: Transport) -> Peer:
        peer = Peer(transport, PluginDispatcher(PLUGIN_ID, self.host.core.gate, "0"), UNCAPPED, name=PLUGIN_ID)
        peer.start()
        return peer

    def problems(self, received: bytes) -> list[str]:
        leaked = ["the other plugin's words came out"] if SECRET.encode() in received else []
        ended = [] if self.host.core.sessions.get(self.other) else ["the other plugin's run was ended"]
        return [*leaked, *ended, *self.error_log.said]


@asynccontextmanager
async def fuzzed(folder: Path) -> AsyncIterator[Fuzzed]:
    for plugin in (ECHO_PLUGIN, PATIENT_PLUGIN):
        installed = parlour_here("plugin", "install", plugin, "--data", folder)
        assert installed.returncode == 0, installed.stderr
    error_log = ErrorLog()
    logging.getLogger().addHandler(error_log)
    try:
        settings = load(None, {"data": str(folder)}, {})
        async with open_host(settings, HostExtensions(), build_redactor(settings)) as host:
            await host.start()
            own = await _run(host, Agent("own", "own", PATIENT), "hello")
            other = await _run(host, Agent("other", "other", ECHO, runner_config={"hold_ms": 3_600_000}), SECRET)
            yield Fuzzed(host, own, other, error_log)
            await host.stop()
    finally:
        logging.getLogger().removeHandler(error_log)


async def _run(host: Host, agent: Agent, text: str) -> str:
    """Starts a run of this agent that stays active and may call without a rate limit, and returns its id."""
    await host.core.agents.add(agent)
    known = {session.run_id for session in host.core.sessions.all()}
    event = EventEnvelope(
        event_id=host.ids.new(),
        event_type="message.received",
        source="api",
        chat=agent.agent_id,
        context=EventContext(host.ids.new(), origin="api"),
        surface="api",
        agent_id=agent.agent_id,
        event_time=host.clock.now(),
        actor=Participant("user", "somebody"),
        input={"text": text},
    )
    await host.core.gateway.ingest(event)
    async with asyncio.timeout(SECONDS):
        while not (new := [each for each in host.core.sessions.all() if each.run_id not in known]):
            await asyncio.sleep(0.01)
    new[0].rate = TokenBucket(1_000_000, 1_000_000)
    return str(new[0].run_id)
