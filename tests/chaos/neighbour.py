"""Measures runs of the plugin beside the chaotic one, in alternating quiet and disturbed rounds.

Machines are noisy, and other load affects both kinds of rounds. The limits therefore depend on the
quiet rounds: 1.5 times the median, and 20 ms for the slowest of a hundred, or 1.5 times the slowest
quiet one if the machine itself is about that slow.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import IO, cast

from tests.support.harness import Host, Json, message

from . import request_timer

QUIET_MESSAGES = 60
PACE_SECONDS = 0.25
"""The shortest time between two disturbances; the cost of a stream of ordinary messages is measured elsewhere."""
MEBIBYTE = 1024 * 1024
MEDIAN_RATIO = 1.5
SLOWEST_SECONDS = 0.020
SLOWEST_RATIO = 1.5
MEMORY_MB = 50.0


@dataclass(slots=True)
class Figures:
    quiet: list[float] = field(default_factory=list)
    disturbed: list[float] = field(default_factory=list)
    memory_mb: float = 0.0
    """The largest growth of the Host's memory."""

    @property
    def ratio(self) -> float:
        return median(self.disturbed) / median(self.quiet)

    @property
    def slowest_allowed(self) -> float:
        return max(SLOWEST_SECONDS, SLOWEST_RATIO * _slowest(self.quiet))

    def problems(self) -> list[str]:
        found = []
        if self.ratio > MEDIAN_RATIO:
            found.append(f"p50 is {self.ratio:.2f} times the quiet one's")
        if _slowest(self.disturbed) > self.slowest_allowed:
            found.append(f"p99 is over {1000 * self.slowest_allowed:.0f} ms")
        if self.memory_mb > MEMORY_MB:
            found.append(f"the Host had {self.memory_mb:.0f} MB more")
        return found

    def __str__(self) -> str:
        quiet, disturbed = _describe(self.quiet), _describe(self.disturbed)
        return f"quiet {quiet}; disturbed {disturbed}; {self.ratio:.2f} times; Host {self.memory_mb:+.1f} MB"


class Neighbour:
    """Represents the echo agent and the process that sends it messages."""

    def __init__(self, timer: "subprocess.Popen[str]") -> None:
        self._input, self._output = cast("IO[str]", timer.stdin), cast("IO[str]", timer.stdout)
        self._measure_quiet(QUIET_MESSAGES)

    def measure(self, disturb: Callable[[], object], rounds: int, seconds: float) -> Figures:
        """Repeats `disturb` for at least this many seconds in each round."""
        figures = Figures()
        before = self._measure_quiet(1)["memory"]
        for _ in range(rounds):
            figures.quiet += self._measure_quiet(QUIET_MESSAGES)["seconds"]
            disturbed = self._measure_disturbed(disturb, seconds)
            figures.disturbed += disturbed["seconds"]
            figures.memory_mb = max(figures.memory_mb, (disturbed["memory"] - before) / MEBIBYTE)
        figures.quiet += self._measure_quiet(QUIET_MESSAGES)["seconds"]
        return figures

    def _measure_quiet(self, count: int) -> Json:
        self._order(str(count))
        return self._read_report()

    def _measure_disturbed(self, disturb: Callable[[], object], seconds: float) -> Json:
        self._order("")
        until = time.monotonic() + seconds
        while (started_at := time.monotonic()) < until:
            disturb()
            time.sleep(max(0.0, started_at + PACE_SECONDS - time.monotonic()))
        self._order("")
        return self._read_report()

    def _order(self, line: str) -> None:
        self._input.write(line + "\n")
        self._input.flush()

    def _read_report(self) -> Json:
        line = self._output.readline()
        assert line, "the process that asks the neighbour ended; its error is above"
        return cast(Json, json.loads(line))


@contextmanager
def neighbour_in(host: Host) -> Iterator[Neighbour]:
    body = json.dumps(message(host.agent(name="neighbour"), request_timer.TEXT))
    arguments = (host.address.removeprefix("http://"), host.key(), body, str(host.process.pid))
    command = [sys.executable, request_timer.__file__, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Neighbour(process)
        finally:
            process.kill()


def _slowest(seconds: list[float]) -> float:
    """Returns the slowest of a hundred."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


def _describe(seconds: list[float]) -> str:
    return f"p50 {1000 * median(seconds):.1f} p99 {1000 * _slowest(seconds):.1f} ms of {len(seconds)}"
