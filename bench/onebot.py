"""One message over a OneBot bot and back: with echo-agent, and with local-agent and a model that answers at once."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from . import floor
from .databases import sqlite
from .host import ECHO, LOCAL, Host, Meter, Unmeasurable, install, new_key, running
from .load import Load
from .messages import WORDS, Books, audit
from .onebot_peer import User, connected
from .report import Figure, Target
from .samples import percentile

USERS = 50
FIRST_USER = 20_000
WARMING = 20


@dataclass(frozen=True, slots=True)
class Size:
    sequential: int
    slices: int
    slice_seconds: float


FULL = Size(sequential=300, slices=4, slice_seconds=5)
QUICK = Size(sequential=60, slices=2, slice_seconds=1.5)


@dataclass(frozen=True, slots=True)
class Bounds:
    sequential_ms: float
    rate: float


async def measure(folder: Path, size: Size) -> list[Figure]:
    return [*await _echo(folder / "onebot-echo", size), *await _local(folder / "onebot-local", size)]


async def _echo(data: Path, size: Size) -> list[Figure]:
    key = install(data)
    books = Books(WORDS)
    with running(data, key, {"PARLOUR__PLUGINS__BUNDLED": "false"}) as host:
        meter = Meter(host, plugin=ECHO)
        figures = await _both("echo-agent", host, host.make_agent(), meter, books, size, Bounds(5, 400))
        figures.append(Figure("echo-agent: Host RSS", meter.host_mb(), "MB", Target(120)))
    async with sqlite(data) as database:
        problems = books.wrong + await audit(database, books)
    return [*figures, _lost("echo-agent", books, problems)]


async def _local(data: Path, size: Size) -> list[Figure]:
    key = new_key(data)
    books = Books(WORDS)
    with _model() as port, running(data, key) as host:
        meter = Meter(host, plugin=LOCAL)
        agent_id = _agent(host, port)
        figures = await _both("local-agent", host, agent_id, meter, books, size, Bounds(15, 120))
        figures.append(Figure("local-agent: Host and plugins, RSS", meter.tree_mb(), "MB", Target(220)))
    return [*figures, _lost("local-agent", books, books.wrong)]


async def _both(
    name: str, host: Host, agent_id: str, meter: Meter, books: Books, size: Size, bounds: Bounds
) -> list[Figure]:
    """One after the other, and fifty at once."""
    async with connected(_bot(host, agent_id), books) as peer:
        users = [User(peer, FIRST_USER + number) for number in range(USERS)]
        for _ in range(WARMING):
            await users[0].say()
        alone = [await users[0].say() for _ in range(size.sequential)]
        load, speeds = Load(), []
        for _ in range(size.slices):
            speeds.append(floor.yardstick())
            await load.run(users, size.slice_seconds, meter)
    p50, p95 = (1000 * percentile(alone, percent) for percent in (50, 95))
    spread = f"{min(load.rates):,.0f} to {max(load.rates):,.0f} over {len(load.rates)} slices"
    spread += f"; other programs used {load.others_cores:.2f} cores meanwhile"
    return [
        Figure(f"{name}: one after the other, p50", p50, "ms", Target(bounds.sequential_ms), f"p95 {p95:.1f}"),
        Figure(f"{name}: {USERS} users, rate", load.rate, "/s", Target(bounds.rate, "at least"), spread),
        Figure(f"{name}: {USERS} users, p50", 1000 * percentile(load.latencies, 50), "ms"),
        Figure(f"{name}: CPU Host", load.cpu_ms("host"), "ms/msg"),
        Figure(f"{name}: CPU plugin", load.cpu_ms("plugin"), "ms/msg"),
        Figure("yardstick: CPU of a fixed piece of Python", median(speeds), "ms", note="to compare runs by"),
    ]


def _lost(name: str, books: Books, problems: list[str]) -> Figure:
    note = "; ".join(problems[:3]) or f"{len(books.sent):,} messages"
    return Figure(f"{name}: lost, doubled or mismatched", len(problems) + books.lost, "", Target(0), note)


def _bot(host: Host, agent_id: str) -> int:
    """The port it listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    config = {"mode": "reverse", "host": "127.0.0.1", "port": port}
    bot = host.request("POST", "/api/v1/bots", {"name": "bench", "adapter": "onebot11", "adapter_config": config})
    routes: list[dict[str, Any]] = [{"handler_type": "agent", "handler_config": {"agent_id": agent_id}}]
    host.request("PUT", f"/api/v1/bots/{bot['bot_id']}/routes", routes)
    return port


def _agent(host: Host, port: int) -> str:
    service = {"name": "bench", "kind": "openai-compatible", "base_url": f"http://127.0.0.1:{port}/v1"}
    provider = host.request("POST", "/api/v1/model-providers", {**service, "api_keys": ["none"]})
    model = {"provider_id": provider["provider_id"], "name": "bench", "max_output_tokens": 100}
    model_id = host.request("POST", "/api/v1/models", model)["model_id"]
    return host.make_agent(LOCAL, {"model": {"primary": model_id, "fallbacks": []}})


@contextmanager
def _model() -> Iterator[int]:
    child = str(Path(__file__).with_name("model_child.py"))
    with subprocess.Popen([sys.executable, child], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            announced = process.stdout.readline()
            if not announced:
                raise Unmeasurable("the model's server did not start")
            yield int(announced)
        finally:
            process.kill()
