"""Measures an idle Host: start, memory, CPU, and the memory of inactive conversations."""

import asyncio
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .clients import HttpLane
from .databases import sqlite
from .host import Host, Meter, install, running
from .messages import WORDS, Books, audit
from .report import Figure, Target

IN_FLIGHT = 50
RESTING = 10_000


@dataclass(frozen=True, slots=True)
class Size:
    starts: int
    idle_seconds: float
    warming: int
    """Messages before memory is first measured."""
    conversations: int


FULL = Size(starts=5, idle_seconds=5.0, warming=1_000, conversations=RESTING)
QUICK = Size(starts=1, idle_seconds=1.0, warming=300, conversations=600)


async def measure(folder: Path, size: Size) -> list[Figure]:
    data = folder / "idle"
    key = install(data)
    books = Books(WORDS)
    figures = await _starts(folder, data, key, size.starts)
    with running(data, key) as host:
        meter = Meter(host)
        figures += await _idle(meter, size.idle_seconds)
        agent_id = host.make_agent()
        figures.append(await _resting(host, meter, agent_id, books, size))
        figures += await _idle_cpu(meter, size.idle_seconds, f"idle with {size.conversations:,} conversations: CPU")
    async with sqlite(data) as database:
        problems = books.wrong + await audit(database, books)
    note = "; ".join(problems[:3]) or f"{len(books.sent):,} messages"
    return [*figures, Figure("lost, doubled or mismatched", len(problems) + books.lost, "", Target(0), note)]


async def _starts(folder: Path, existing: Path, key: str, count: int) -> list[Figure]:
    """Measures starts alternately with a data directory that has only the plugin, and with one that has a database."""
    seconds: dict[str, list[float]] = {"fresh": [], "existing": []}
    for number in range(count):
        new_folder = folder / f"fresh-{number}"
        shutil.copytree(existing / "plugins", new_folder / "plugins")
        for name, data in (("fresh", new_folder), ("existing", existing)):
            with running(data, key) as host:
                seconds[name].append(host.ready_seconds)
            await asyncio.sleep(0)  # lets Ctrl-C be handled
        shutil.rmtree(new_folder)
    return [
        Figure(
            f"exec to ready, {name} data directory",
            median(values),
            "s",
            Target(2),
            f"median of {count}: {min(values):.2f} to {max(values):.2f}",
        )
        for name, values in seconds.items()
    ]


async def _idle(meter: Meter, seconds: float) -> list[Figure]:
    await asyncio.sleep(1.0)
    figures = await _idle_cpu(meter, seconds, "idle: CPU")
    memory = Figure("idle: Host RSS", meter.host_mb(), "MB", Target(100))
    return [memory, Figure("idle: plugin RSS", meter.plugin_mb(), "MB"), *figures]


async def _idle_cpu(meter: Meter, seconds: float, title: str) -> list[Figure]:
    meter.restart()
    await asyncio.sleep(seconds)
    cost = meter.cost()
    return [
        Figure(f"{title} of the Host", 100 * cost.host / seconds, "% core", note=f"over {seconds:g} s, in 10 ms steps"),
        Figure(f"{title} of the plugin", 100 * cost.plugin / seconds, "% core"),
    ]


async def _resting(host: Host, meter: Meter, agent_id: str, books: Books, size: Size) -> Figure:
    """Measures the memory per inactive conversation. The Host has answered messages before, so that memory that it
    allocates once is not counted."""
    count = size.conversations
    lanes = [await HttpLane(host, agent_id, "", books).open(host.port) for _ in range(IN_FLIGHT)]
    try:
        await _one_each(lanes, [f"warm-{number % IN_FLIGHT}" for number in range(size.warming)])
        await asyncio.sleep(1.0)
        before_mb = meter.host_mb()
        started = time.perf_counter()
        await _one_each(lanes, [f"resting-{number}" for number in range(count)])
        rate = count / (time.perf_counter() - started)
        await asyncio.sleep(1.0)
        after_mb = meter.host_mb()
    finally:
        for lane in lanes:
            await lane.close()
    note = f"{before_mb:.0f} to {after_mb:.0f} MB; made at {rate:,.0f}/s"
    target = Target(20) if count == RESTING else None
    return Figure(f"{count:,} idle conversations: Host RSS", after_mb - before_mb, "MB", target, note)


async def _one_each(lanes: list[HttpLane], chats: list[str]) -> None:
    remaining = iter(chats)

    async def send_next(lane: HttpLane) -> None:
        for chat in remaining:
            await lane.say(chat)

    async with asyncio.timeout(120):
        await asyncio.gather(*(send_next(lane) for lane in lanes))
