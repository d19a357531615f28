"""Sandboxes that try to harm a Host: what they do is contained and said in words, and others hardly notice."""

import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import pytest

from tests.support.harness import ECHO, ECHO_PLUGIN, NO_RUN_LIMITS, Host, Json, texts
from tests.support.scripted import CALLER, CALLING_PLUGIN

pytestmark = [pytest.mark.long, pytest.mark.quiet, pytest.mark.timeout(900)]
QUOTA_MB = 64
MAX_SESSIONS = 16
MESSAGES = 120
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

    def latency(self, messages: int = MESSAGES) -> float:
        """Returns the median milliseconds of two messages: one that is answered at once, and one after a command."""
        taken = []
        for number in range(messages):
            started = time.perf_counter()
            assert texts(self._host.ask(self._echo, f"message {number}", conversation_id="other")) != []
            assert not run(self._host, self._agent, "echo fine", "other")["is_error"]
            taken.append((time.perf_counter() - started) * 1000)
        return statistics.median(taken)


@contextmanager
def repeated(act: object) -> Iterator[list[Json]]:
    """Repeats an act in a thread, and collects its outcomes."""
    stopping, outcomes = threading.Event(), []

    def repeat() -> None:
        while not stopping.is_set():
            outcomes.append(act())  # type: ignore[operator]

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield outcomes
    finally:
        stopping.set()
        thread.join()


def test_s4_attacks_are_contained_and_others_hardly_notice(host: Host) -> None:
    agent = host.agent(CALLER, box_policy={"tools": ["exec"]})
    others = Others(host, agent)
    others.latency(20)
    lines, ratios = [], {}
    for name, (command, words) in ATTACKS.items():
        before = others.latency()
        with repeated(lambda command=command: run(host, agent, command, "attacker")) as outcomes:
            during = others.latency()
        alone = (before + others.latency()) / 2
        ratios[name] = during / alone
        lines.append(f"{name}: others {alone:.1f} ms alone, {during:.1f} ms beside it ({ratios[name]:.2f} times)")
        text = outcomes[-1]["content"][0]["text"]
        assert outcomes[-1]["is_error"], text
        assert words in text, f"{name}: {text[-300:]}"
        assert run(host, agent, "echo alive", "attacker")["content"][0]["text"] == "alive\n"
    numbers = count()
    before = others.latency()
    with repeated(lambda: run(host, agent, "true", f"storm {next(numbers)}")) as outcomes:
        during = others.latency()
        while len(outcomes) < 1000:
            time.sleep(0.05)
    alone = (before + others.latency()) / 2
    ratios["many sessions"] = during / alone
    lines.append(f"{len(outcomes)} sessions: others {alone:.1f} ms alone, {during:.1f} ms beside them")
    print("\n" + "\n".join(lines))  # noqa: T201
    assert len(host.items("/box/sessions")) <= MAX_SESSIONS
    assert not [each for each in outcomes if each["is_error"]]
    assert {name: ratio for name, ratio in ratios.items() if ratio > ALLOWED_RATIO} == {}
