"""Times the runs of the plugin beside the chaotic one: while all is quiet and while it is not, in turns.

Machines are noisy, and what else runs on one falls on both kinds of rounds. So the quiet rounds say what can be asked:
half as much again for the median, and 20 ms for the slowest of a hundred, or half as much again as the quiet one took
where the machine itself is about as slow as that.
"""

import http.client
import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from tests.integration.harness import Host, bearer, message

QUIET_MESSAGES = 60
PACE_SECONDS = 0.25
"""A deed begins at most so often: what a stream of ordinary messages costs is measured elsewhere."""
MEBIBYTE = 1024 * 1024
SWITCH_SECONDS = 0.0002
"""Whoever disturbs is a thread of this process: what it keeps the clock waiting is no fault of the Host's."""
MEDIAN_RATIO = 1.5
SLOWEST_SECONDS = 0.020
SLOWEST_RATIO = 1.5
MEMORY_MB = 50.0


@dataclass(slots=True)
class Figures:
    quiet: list[float] = field(default_factory=list)
    disturbed: list[float] = field(default_factory=list)
    memory_mb: float = 0.0
    """How much more the Host had at its worst."""

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
        quiet, disturbed = _in_words(self.quiet), _in_words(self.disturbed)
        return f"quiet {quiet}; disturbed {disturbed}; {self.ratio:.2f} times; Host {self.memory_mb:+.1f} MB"


class Neighbour:
    """The echo agent, asked one thing after the other over one connection."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._agent = host.agent(name="neighbour")
        self._headers = {**bearer(host.key()), "Content-Type": "application/json"}
        self._connection = http.client.HTTPConnection(host.address.removeprefix("http://"), timeout=30)
        for _ in range(QUIET_MESSAGES):
            self._ask()

    def measure(self, disturb: Callable[[], object], rounds: int, seconds: float) -> Figures:
        """`disturb` again and again for at least so long in each round."""
        figures = Figures()
        before = self._memory()
        sys.setswitchinterval(SWITCH_SECONDS)
        for _ in range(rounds):
            figures.quiet += [self._ask() for _ in range(QUIET_MESSAGES)]
            for taken in self._while_going_on(disturb, seconds):
                figures.disturbed.append(taken)
                figures.memory_mb = max(figures.memory_mb, (self._memory() - before) / MEBIBYTE)
        figures.quiet += [self._ask() for _ in range(QUIET_MESSAGES)]
        sys.setswitchinterval(0.005)
        return figures

    def _while_going_on(self, disturb: Callable[[], object], seconds: float) -> list[float]:
        until = time.monotonic() + seconds
        failures: list[BaseException] = []

        def work() -> None:
            try:
                while (begun := time.monotonic()) < until:
                    disturb()
                    time.sleep(max(0.0, begun + PACE_SECONDS - time.monotonic()))
            except BaseException as error:  # noqa: BLE001 - it is raised where the test waits
                failures.append(error)

        working = threading.Thread(target=work)
        working.start()
        taken = []
        while working.is_alive():
            taken.append(self._ask())
        working.join()
        for failure in failures:
            raise failure
        return taken

    def _ask(self) -> float:
        body = json.dumps(message(self._agent, "one two three"))
        begun = time.perf_counter()
        self._connection.request("POST", "/api/v1/events?wait=result", body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        taken = time.perf_counter() - begun
        assert answer.status == 200, content
        assert json.loads(content)["messages"][0]["content"] == "one two three"
        return taken

    def _memory(self) -> int:
        return int(self._host.process.memory_info().rss)


def _slowest(seconds: list[float]) -> float:
    """Of a hundred."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


def _in_words(seconds: list[float]) -> str:
    return f"p50 {1000 * median(seconds):.1f} p99 {1000 * _slowest(seconds):.1f} ms of {len(seconds)}"
