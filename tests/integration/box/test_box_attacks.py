"""Sandboxes that try to harm a Host: what they do is contained and said in words, and others hardly notice."""

import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import psutil
import pytest

from parlour_sdk.values import dataclass
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

pytestmark = [pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(900)]
QUOTA_MB = 64
MAX_SESSIONS = 16
TURNS, MESSAGES = 4, 15
QUIET_PERCENT = 25
ALLOWED_RATIO = 1.5
SCAN = """
import socket
for port in range(1, 3000):
    s = socket.socket(); s.settimeout(0.01)
    try: s.connect(("10.0.0.1", port))
    except OSError as error: last = error
print(last)
"""
ATTACKS = {
    "fork bomb": ("timeout 5 python3 -c 'import os\nwhile True: os.fork()'", "more processes than the sandbox allows"),
    "memory hog": ("exec python3 -c 'x = bytearray(2_000_000_000)'", "more memory than the sandbox has"),
    "full workspace": (
        f"dd if=/dev/zero of=big bs=1M count={2 * QUOTA_MB}",
        "workspace is full",
    ),
    "socket scan": (f"python3 -c '{SCAN}'; exit 1", "This sandbox has no network."),
    "busy loop": ("timeout 5 sh -c 'while :; do :; done'", "Exit code 124."),
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    settings = {"PARLOUR__BOX__LOCAL__WORKSPACE_QUOTA_MB": QUOTA_MB, "PARLOUR__BOX__MAX_SESSIONS": MAX_SESSIONS}
    host = Host(tmp_path_factory.mktemp("attacks"), **settings, **NO_RUN_LIMITS)
    host.install(CALLING_PLUGIN)
    host.install(ECHO_PLUGIN)
    host.start()
    yield host
    host.close()


def run(host: Host, agent: str, command: str, chat: str) -> Json:
    request = [["call_tool", {"tool_name": "box.exec", "parameters": {"command": command}}]]
    [outcome] = json.loads(texts(host.ask(agent, json.dumps(request), conversation_id=chat))[0])
    found: Json = outcome
    return found


class Others:
    """People who chat with another agent, and one whose agent runs commands."""

    def __init__(self, host: Host, agent: str) -> None:
        self._host = host
        self._echo = host.agent(ECHO)
        self._agent = agent

    def latencies(self, messages: int) -> list[float]:
        """Returns the milliseconds of pairs of messages: one that is answered at once, and one after a command."""
        taken = []
        for number in range(messages):
            started = time.perf_counter()
            assert texts(self._host.ask(self._echo, f"message {number}", conversation_id="other")) != []
            assert not run(self._host, self._agent, "echo fine", "other")["is_error"]
            taken.append((time.perf_counter() - started) * 1000)
        return taken

    def compare(self, act: Callable[[], Json]) -> "Compared":
        """Measures alone and beside an act in turns, so that both see the same machine."""
        alone, beside, outcomes = [], [], []
        for _ in range(TURNS):
            alone += self.latencies(MESSAGES)
            with repeated(act) as acted:
                beside += self.latencies(MESSAGES)
            outcomes += acted
        return Compared(statistics.median(alone), statistics.median(beside), outcomes)


@dataclass(frozen=True, slots=True)
class Compared:
    """Milliseconds of others, alone and beside something, and what became of that."""

    alone: float
    beside: float
    outcomes: list[Json]

    @property
    def ratio(self) -> float:
        return self.beside / self.alone

    def __str__(self) -> str:
        return f"others {self.alone:.1f} ms alone, {self.beside:.1f} ms beside it ({self.ratio:.2f} times)"


@contextmanager
def repeated(act: Callable[[], Json]) -> Iterator[list[Json]]:
    """Repeats an act in a thread, and collects its outcomes."""
    stopping, outcomes = threading.Event(), []

    def repeat() -> None:
        while not stopping.is_set():
            outcomes.append(act())

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield outcomes
    finally:
        stopping.set()
        thread.join()


def test_s4_attacks_are_contained_and_others_hardly_notice(host: Host) -> None:
    agent = host.agent(CALLER, box_policy={"tools": ["exec"]})
    others, numbers = Others(host, agent), count()
    others.latencies(20)
    is_quiet = psutil.cpu_percent(2) < QUIET_PERCENT
    found = {}
    for name, (command, words) in ATTACKS.items():
        found[name] = others.compare(lambda command=command: run(host, agent, command, "attacker"))  # type: ignore[misc]
        print(f"\n{name}: {found[name]}")  # noqa: T201
        last = found[name].outcomes[-1]
        text = last["content"][0]["text"]
        assert last["is_error"], text
        assert words in text, f"{name}: {text[-300:]}"
        assert run(host, agent, "echo alive", "attacker")["content"][0]["text"] == "alive\n"
    storm = found["new sessions"] = others.compare(lambda: run(host, agent, "true", f"storm {next(numbers)}"))
    print(f"\n{len(storm.outcomes)} new sessions: {storm}; {'quiet' if is_quiet else 'busy'} machine")  # noqa: T201
    assert len(storm.outcomes) > MAX_SESSIONS
    assert len(host.items("/box/sessions")) <= MAX_SESSIONS
    assert not [each for each in storm.outcomes if each["is_error"]]
    if is_quiet:  # elsewhere the ratio is that of other programs
        assert {name: each.ratio for name, each in found.items() if each.ratio > ALLOWED_RATIO} == {}
