"""Measures a message through a real Host: against the baseline, under load, and in a large conversation."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import aiohttp

from . import floor, growth
from .clients import AiohttpLane, ChatLane, Client, HttpLane
from .databases import Database, OpenDatabase
from .host import Host, Meter, Unmeasurable, install, running
from .load import Load
from .messages import Books, audit
from .report import Figure, Target
from .rows import take_template
from .samples import Samples, percentile, ratios

CONVERSATIONS = 50


@dataclass(frozen=True, slots=True)
class Size:
    rounds: int
    per_round: int
    load_slices: int
    slice_seconds: float
    growth: growth.Size


FULL = Size(8, 60, 4, 2.5, growth.Size(aged=200, compared=200, items=20_000))
QUICK = Size(4, 25, 2, 1.5, growth.Size(aged=200, compared=60, items=20_000))


@dataclass(frozen=True, slots=True)
class Bench:
    """A running Host and its clients."""

    host: Host
    database: Database
    agent_id: str
    books: Books
    meter: Meter

    async def http(self, chat: str) -> HttpLane:
        return await HttpLane(self.host, self.agent_id, chat, self.books).open(self.host.port)

    async def chat(self, session: str) -> ChatLane:
        return await ChatLane(self.host, self.agent_id, session, self.books).open(self.host.port)


async def measure(folder: Path, open_database: OpenDatabase, size: Size, words: int) -> list[Figure]:
    data = folder / "spine"
    books = Books(words)
    async with open_database(data) as database:
        key = install(data, database.settings)
        with running(data, key, database.settings) as host:
            bench = Bench(host, database, host.make_agent(), books, Meter(host, database.cpu_seconds))
            figures = await _sequential(bench, size, folder / "floor.db")
            figures += await _load(bench, size)
            figures += await growth.measure(await bench.http("grown"), database, size.growth)
        problems = books.wrong + await audit(database, books)
    note = "; ".join(problems[:3]) or f"{len(books.sent):,} messages, each checked on its way and in the database"
    figures.append(Figure("lost, doubled or mismatched", len(problems) + books.lost, "", Target(0), note))
    return figures


async def _sequential(bench: Bench, size: Size, floor_file: Path) -> list[Figure]:
    """Measures baseline and Host alternately, so that other load of the machine affects both equally."""
    names = ("echo", "commits", "aiohttp", "http", "chat")
    samples = {name: Samples() for name in names}
    rates: list[float] = []
    async with _lanes(bench) as lanes, floor.echo() as echo:
        for client in lanes.values():
            await _say(client, 20)
        ledger = await bench.database.floor(floor_file)
        commits = floor.Commits(ledger, await take_template(bench.database))
        await commits.prepare()
        await echo.sequential(20)
        for _ in range(size.rounds):
            samples["echo"].add(await echo.sequential(size.per_round))
            samples["commits"].add(await commits.sequential(size.per_round))
            for name, client in lanes.items():
                samples[name].add(await _say(client, size.per_round))
            rates.append(await echo.rate(1000))
        await ledger.close()
    return _against_floor(samples, median(rates))


def _against_floor(by_name: dict[str, Samples], echo_rate: float) -> list[Figure]:
    hop, commits = by_name["echo"].ms(50), by_name["commits"].ms(50)
    by_round = [
        sum(each) for each in zip(by_name["echo"].ms_by_round(50), by_name["commits"].ms_by_round(50), strict=True)
    ]
    figures = [
        Figure("floor: JSON line to a process and back, p50", hop, "ms", note=f"{echo_rate:,.0f}/s with 50 in flight"),
        Figure("floor: four commits of one message, p50", commits, "ms", note=f"p99 {by_name['commits'].ms(99):.2f}"),
        Figure("floor of one message", hop + commits, "ms"),
    ]
    titles = {"aiohttp": "POST, aiohttp", "http": "POST, bare client", "chat": "chat socket"}
    for name, title in titles.items():
        samples = by_name[name]
        low, high = ratios(samples.ms_by_round(50), by_round)
        figures += [
            Figure(f"{title}: p50", samples.ms(50), "ms", note=f"p95 {samples.ms(95):.2f}, p99 {samples.ms(99):.2f}"),
            Figure(
                f"{title}: p50 by the floor",
                samples.ms(50) / (hop + commits),
                "times",
                Target(5),
                f"{low:.2f} to {high:.2f} over {len(by_round)} rounds",
            ),
        ]
    return figures


async def _load(bench: Bench, size: Size) -> list[Figure]:
    """Measures HTTP and chat alternately."""
    loads = {"HTTP": Load(), "chat sockets": Load()}
    async with AsyncExitStack() as stack:
        lanes: dict[str, list[Client]] = {"HTTP": [], "chat sockets": []}
        for number in range(CONVERSATIONS):
            lanes["HTTP"].append(await bench.http(f"load-{number}"))
            lanes["chat sockets"].append(await bench.chat(f"load-{number}"))
        for clients in lanes.values():
            for client in clients:
                stack.push_async_callback(client.close)
        speeds: list[float] = []
        for _ in range(size.load_slices):
            for name, load in loads.items():
                speeds.append(floor.yardstick())
                await load.run(lanes[name], size.slice_seconds, bench.meter)
                await asyncio.sleep(0.2)
    figures = [figure for name, load in loads.items() for figure in _of_load(name, load)]
    if not all(load.messages for load in loads.values()):
        raise Unmeasurable("no message was answered under load")
    return [
        *figures,
        Figure("yardstick: CPU of a fixed piece of Python", median(speeds), "ms", note="to compare runs by"),
        Figure("Host RSS after the load", bench.meter.host_mb(), "MB"),
        Figure("plugin RSS after the load", bench.meter.plugin_mb(), "MB"),
    ]


def _of_load(name: str, load: Load) -> list[Figure]:
    title = f"{CONVERSATIONS} {name}" if name == "chat sockets" else f"{CONVERSATIONS} conversations, {name}"
    p50, p99 = (1000 * percentile(load.latencies, percent) for percent in (50, 99))
    host, plugin, server, client = (load.cpu_ms(component) for component in ("host", "plugin", "database", "client"))
    spread = f"{min(load.rates):,.0f} to {max(load.rates):,.0f} over {len(load.rates)} slices"
    spread += f"; other programs used {load.others_cores:.2f} cores meanwhile"
    return [
        Figure(f"{title}: rate", load.rate, "/s", Target(600, "at least"), spread),
        Figure(f"{title}: latency p50", p50, "ms", note=f"p99 {p99:.1f}"),
        Figure(f"{title}: CPU Host", host, "ms/msg"),
        Figure(f"{title}: CPU plugin", plugin, "ms/msg"),
        *([Figure(f"{title}: CPU database server", server, "ms/msg")] if server else []),
        Figure(
            f"{title}: CPU both", host + plugin, "ms/msg", Target(3), f"the load client itself: {client:.2f} ms/msg"
        ),
    ]


@asynccontextmanager
async def _lanes(bench: Bench) -> AsyncIterator[dict[str, Client]]:
    async with aiohttp.ClientSession() as session:
        lanes: dict[str, Client] = {
            "aiohttp": AiohttpLane(session, bench.host, bench.agent_id, "sequential-aiohttp", bench.books),
            "http": await bench.http("sequential-http"),
            "chat": await bench.chat("sequential"),
        }
        try:
            yield lanes
        finally:
            for client in lanes.values():
                await client.close()


async def _say(client: Client, count: int) -> list[float]:
    async with asyncio.timeout(60):
        return [await client.say() for _ in range(count)]
