"""Measures how many units several writers commit to one PostgreSQL, with a slot each and with a common slot.

A writer is a journal in a process of its own, without a Host, that accepts events in batches of five. A commit takes at
least 2 ms, as with a synchronous replica.
"""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from parlour.stores.postgres import migrate
from parlour.testing.postgres_server import PostgresServer

from .host import Unmeasurable
from .report import Figure, Target

CHILD = Path(__file__).with_name("writers_child.py")
COMMIT_DELAY_MICROSECONDS = 2000
FULL_CPU = 0.9
"""Share of all cores from which the processors limit the writers, rather than the waits for commits."""
MIN_RATIO_OF_FOUR, MIN_RATIO_OF_TWO = 3.0, 1.8


@dataclass(frozen=True, slots=True)
class Size:
    rounds: int
    seconds: float


FULL = Size(rounds=5, seconds=2.0)
QUICK = Size(rounds=2, seconds=1.0)


@dataclass(frozen=True, slots=True)
class Rate:
    """The result of one round."""

    units_per_second: float
    cpu_share: float
    """Share of all cores that was in use, also by other programs."""


async def measure(size: Size) -> list[Figure]:
    """Measures each number of writers in turns, so that other load of the machine affects all equally."""
    kinds = {"1 writer": (0,), "2 writers": (0, 1), "4 writers": (0, 1, 2, 3), "4 writers, one slot": (0, 0, 0, 0)}
    rates: dict[str, list[Rate]] = {kind: [] for kind in kinds}
    with PostgresServer(durable=True, parent="/var/tmp") as server:
        for setting in (f"commit_delay = {COMMIT_DELAY_MICROSECONDS}", "commit_siblings = 0"):
            server.execute(f"ALTER SYSTEM SET {setting}")
        server.execute("SELECT pg_reload_conf()")
        for _ in range(size.rounds):
            for kind, slots in kinds.items():
                rates[kind].append(await _rate(server, slots, size.seconds))
    return _figures(rates)


def _figures(rates: dict[str, list[Rate]]) -> list[Figure]:
    figures = [
        Figure(kind, median(each.units_per_second for each in rounds), "units/s", note=f"CPU {_cpu(rounds):.0%}")
        for kind, rounds in rates.items()
    ]
    limited = _cpu(rates["4 writers"]) >= FULL_CPU
    of_four = Target(MIN_RATIO_OF_FOUR, "at least") if not limited else None
    of_two = Target(MIN_RATIO_OF_TWO, "at least") if limited else None
    return [
        *figures,
        Figure("2 writers to 1", _ratio(rates, "2 writers"), "x", of_two),
        Figure("4 writers to 1", _ratio(rates, "4 writers"), "x", of_four, "all cores are in use" if limited else ""),
        Figure("4 writers on one slot to 1", _ratio(rates, "4 writers, one slot"), "x"),
    ]


def _cpu(rounds: list[Rate]) -> float:
    return median(each.cpu_share for each in rounds)


def _ratio(rates: dict[str, list[Rate]], kind: str) -> float:
    pairs = zip(rates[kind], rates["1 writer"], strict=True)
    return median(many.units_per_second / one.units_per_second for many, one in pairs)


async def _rate(server: PostgresServer, slots: tuple[int, ...], seconds: float) -> Rate:
    """Runs a writer per slot on a new database, all at the same time."""
    database = server.create()
    url = server.url(database)
    await migrate.ensure(url)
    pipe = asyncio.subprocess.PIPE
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(CHILD), url, str(slot), str(number), str(seconds), stdin=pipe, stdout=pipe
        )
        for number, slot in enumerate(slots)
    ]
    try:
        for child in children:
            assert child.stdout is not None
            await child.stdout.readline()  # it is connected and has committed once
        psutil.cpu_percent()
        outputs = await asyncio.gather(*(child.communicate(b"go\n") for child in children))
        cpu_share = psutil.cpu_percent() / 100
    finally:
        for child in children:
            if child.returncode is None:
                child.kill()
    if any(child.returncode for child in children):
        raise Unmeasurable("a writer failed")
    units = sum(int(output) for output, _ in outputs)
    server.drop(database)
    return Rate(units / seconds, cpu_share)
