"""Measures a message over a OneBot bot and back: with echo-agent, and with local-agent and a model that answers
immediately.

Alternately, identical messages go through a bare NoneBot2 bot, which stores nothing and guarantees nothing: the ratio
to it says more than milliseconds do on machines of varying speed. For local-agent they also go through a NoneBot2 bot
that calls the model with the `openai` client, as a like-for-like comparison.
"""

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from . import floor
from .databases import sqlite
from .host import ECHO, LOCAL, Host, Meter, Unmeasurable, install, new_key, running
from .load import Load
from .messages import WORDS, Books, audit
from .onebot_peer import Peer, User, connected
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


FULL = Size(sequential=400, slices=4, slice_seconds=4)
QUICK = Size(sequential=60, slices=2, slice_seconds=1.5)


@dataclass(frozen=True, slots=True)
class Bounds:
    sequential_ms: float
    rate: float


@dataclass(frozen=True, slots=True)
class Yardstick:
    """A reference bot that gets identical messages; `took` is its result on the machine where the bounds were set."""

    name: str
    took: Bounds
    command: tuple[str, ...]
    """File of its process, and its arguments after the port."""


NONEBOT = Yardstick("bare NoneBot2", Bounds(1.1, 870), ("nonebot_child.py",))


def with_openai(model_port: int) -> Yardstick:
    return Yardstick("NoneBot2 + openai", Bounds(3.0, 336), ("nonebot_model_child.py", str(model_port)))


@dataclass(slots=True)
class Side:
    """One bot and the users who send messages to it."""

    users: Sequence[User]
    meter: Meter | None = None
    alone: list[float] = field(default_factory=list)
    load: Load = field(default_factory=Load)

    @property
    def sequential_ms(self) -> float:
        return 1000 * percentile(self.alone, 50)


@dataclass(frozen=True, slots=True)
class Trial:
    """An agent of a Host that is measured."""

    name: str
    host: Host
    agent_id: str
    meter: Meter
    books: Books
    bounds: Bounds


async def measure(folder: Path, size: Size) -> list[Figure]:
    return [*await _echo(folder / "onebot-echo", size), *await _local(folder / "onebot-local", size)]


async def _echo(data: Path, size: Size) -> list[Figure]:
    key = install(data)
    books = Books(WORDS)
    with running(data, key, {"PARLOUR__PLUGINS__BUNDLED": "false"}) as host:
        meter = Meter(host, plugin=ECHO)
        run = Trial("echo-agent", host, host.make_agent(), meter, books, Bounds(5, 400))
        figures = await _compare_with(run, size, [NONEBOT])
        figures.append(Figure("echo-agent: Host RSS", meter.host_mb(), "MB", Target(120)))
    async with sqlite(data) as database:
        problems = books.wrong + await audit(database, books)
    return [*figures, _loss_figure("echo-agent", books, problems)]


async def _local(data: Path, size: Size) -> list[Figure]:
    key = new_key(data)
    books = Books(WORDS)
    with model_server() as port, running(data, key) as host:
        meter = Meter(host, plugin=LOCAL)
        agent_id = model_agent(host, port)
        run = Trial("local-agent", host, agent_id, meter, books, Bounds(15, 120))
        figures = await _compare_with(run, size, [NONEBOT, with_openai(port)])
        figures.append(Figure("local-agent: Host and plugins, RSS", meter.tree_mb(), "MB", Target(220)))
    return [*figures, _loss_figure("local-agent", books, books.wrong)]


async def _compare_with(run: Trial, size: Size, yardsticks: Sequence[Yardstick]) -> list[Figure]:
    async with AsyncExitStack() as stack:
        peer = await stack.enter_async_context(connected(make_bot(run.host, run.agent_id), run.books))
        parlour_side = Side(users_of(peer), run.meter)
        other_sides = []
        for each in yardsticks:
            port = stack.enter_context(started(each))
            other_sides.append(Side(users_of(await stack.enter_async_context(connected(port, Books(WORDS))))))
        speeds = await _in_turns((parlour_side, *other_sides), size)
    comparisons = [
        _comparison(run, parlour_side, other, each) for each, other in zip(yardsticks, other_sides, strict=True)
    ]
    return [
        *_figures(run.name, parlour_side, run.bounds),
        *(figure for figures in comparisons for figure in figures),
        Figure("yardstick: CPU of a fixed piece of Python", median(speeds), "ms", note="to compare runs by"),
    ]


def users_of(peer: Peer) -> list[User]:
    return [User(peer, FIRST_USER + number) for number in range(USERS)]


async def _in_turns(sides: Sequence[Side], size: Size) -> list[float]:
    """Measures the sides alternately, with sequential messages and with fifty concurrent ones; returns the machine's
    speed."""
    for side in sides:
        for _ in range(WARMING):
            await side.users[0].say()
    for _ in range(size.slices):
        for side in sides:
            side.alone += [await side.users[0].say() for _ in range(size.sequential // size.slices)]
    speeds = []
    for _ in range(size.slices):
        speeds.append(floor.yardstick())
        for side in sides:
            await side.load.run(side.users, size.slice_seconds, side.meter)
    return speeds


def _figures(name: str, side: Side, bounds: Bounds) -> list[Figure]:
    load = side.load
    p95 = f"p95 {1000 * percentile(side.alone, 95):.1f}"
    spread = f"{min(load.rates):,.0f} to {max(load.rates):,.0f} over {len(load.rates)} slices"
    spread += f"; other programs used {load.others_cores:.2f} cores meanwhile"
    return [
        Figure(f"{name}: one after the other, p50", side.sequential_ms, "ms", Target(bounds.sequential_ms), p95),
        Figure(f"{name}: {USERS} users, rate", load.rate, "/s", Target(bounds.rate, "at least"), spread),
        Figure(f"{name}: {USERS} users, p50", 1000 * percentile(load.latencies, 50), "ms"),
        Figure(f"{name}: CPU Host", load.cpu_ms("host"), "ms/msg"),
        Figure(f"{name}: CPU plugin", load.cpu_ms("plugin"), "ms/msg"),
    ]


def _comparison(run: Trial, own: Side, other: Side, than: Yardstick) -> list[Figure]:
    """Compares latency and rate with the reference bot. The allowed ratios are those of the bounds to the reference's
    result on the machine where they were set."""
    slower, rate = own.sequential_ms / other.sequential_ms, own.load.rate / other.load.rate
    max_latency = Target(round(run.bounds.sequential_ms / than.took.sequential_ms, 1))
    min_rate = Target(round(run.bounds.rate / than.took.rate, 2), "at least")
    return [
        Figure(
            f"{run.name}: p50 against {than.name}",
            slower,
            "times",
            max_latency,
            f"it took {other.sequential_ms:.1f} ms",
        ),
        Figure(f"{run.name}: rate against {than.name}", rate, "times", min_rate, f"it had {other.load.rate:,.0f}/s"),
    ]


def _loss_figure(name: str, books: Books, problems: list[str]) -> Figure:
    note = "; ".join(problems[:3]) or f"{len(books.sent):,} messages"
    return Figure(f"{name}: lost, doubled or mismatched", len(problems) + books.lost, "", Target(0), note)


def make_bot(host: Host, agent_id: str) -> int:
    """Creates the bot and returns the port it listens on."""
    port = _free_port()
    config = {"mode": "reverse", "host": "127.0.0.1", "port": port}
    bot = host.request("POST", "/api/v1/bots", {"name": "bench", "adapter": "onebot11", "adapter_config": config})
    routes: list[dict[str, Any]] = [{"handler_type": "agent", "handler_config": {"agent_id": agent_id}}]
    host.request("PUT", f"/api/v1/bots/{bot['bot_id']}/routes", routes)
    return port


def model_agent(host: Host, port: int) -> str:
    service = {"name": "bench", "kind": "openai-compatible", "base_url": f"http://127.0.0.1:{port}/v1"}
    provider = host.request("POST", "/api/v1/model-providers", {**service, "api_keys": ["none"]})
    model = {"provider_id": provider["provider_id"], "name": "bench", "max_output_tokens": 100}
    model_id = host.request("POST", "/api/v1/models", model)["model_id"]
    return host.make_agent(LOCAL, {"model": {"primary": model_id, "fallbacks": []}})


@contextmanager
def model_server() -> Iterator[int]:
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


@contextmanager
def started(yardstick: Yardstick) -> Iterator[int]:
    """Starts the reference bot and yields the port it listens on."""
    file, *arguments = yardstick.command
    child, port = str(Path(__file__).with_name(file)), _free_port()
    with subprocess.Popen([sys.executable, child, str(port), *arguments], stdout=subprocess.DEVNULL) as process:
        try:
            yield port
        finally:
            process.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
