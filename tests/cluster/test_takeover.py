"""Tests real Hosts on a real PostgreSQL: they share bots, and take over from one that is killed or paused."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import pytest

from parlour.testing.postgres_server import PostgresServer
from tests.support.commands import parlour_here
from tests.support.fleet import CountingPlatform, Fleet, add_bots, bot_tokens, pause, resume
from tests.support.harness import Host, eventually, texts

FENCED = 75
"""Exit status of a Host that was fenced."""
TAKEOVER_SECONDS = 5.0


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def platform() -> Iterator[CountingPlatform]:
    with CountingPlatform() as platform:
        yield platform


@pytest.fixture
def fleet(server: PostgresServer, tmp_path: Path) -> Iterator[Fleet]:
    with Fleet(server, tmp_path) as fleet:
        yield fleet


class Talk:
    """Messages to bots, at a steady pace."""

    def __init__(self, platform: CountingPlatform, tokens: Sequence[str], per_second: float) -> None:
        self._platform = platform
        self._tokens = cycle(tokens)
        self._pause = 1 / per_second
        self.said: list[tuple[str, str]] = []

    def go_on(self, seconds: float) -> None:
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            token, text = next(self._tokens), f"message {len(self.said)}"
            self.said.append((token, text))
            self._platform.say(token, text)
            time.sleep(self._pause)

    @contextmanager
    def in_background(self) -> Iterator[None]:
        """Goes on talking while the context is open."""
        ended = threading.Event()

        def talk() -> None:
            while not ended.is_set():
                self.go_on(0.2)

        thread = threading.Thread(target=talk)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def repeated(self) -> list[str]:
        """Returns the texts that were answered more than once."""
        return [text for token, text in self.said if len(self._platform.answers(token, text)) > 1]

    def require_answers(self) -> list[float]:
        """Requires one answer to each message, or marked repetitions of it. Returns the seconds until each."""

        def missing() -> list[str]:
            return [text for token, text in self.said if not self._platform.answers(token, text)]

        eventually(lambda: not missing(), "every message has an answer", 30)
        unmarked = {text: [sent for sent, _ in self._platform.answers(token, text)] for token, text in self.said}
        assert [text for text, sent in unmarked.items() if sent.count(text) > 1] == []
        return [self._platform.answers(*each)[0][1] - self._platform.said_at[each[1]] for each in self.said]


class Bots:
    """Bots of a cluster, and how soon they were taken over."""

    def __init__(self, fleet: Fleet, platform: CountingPlatform, tokens: dict[str, str]) -> None:
        self._fleet = fleet
        self._platform = platform
        self._tokens = tokens
        """Token of each bot, by its part."""
        self.takeovers: list[float] = []

    def of(self, host_name: str) -> list[str]:
        return [self._tokens[part] for part in self._fleet.owners().get(host_name, [])]

    def record(self, tokens: Sequence[str], since: float) -> None:
        """Records after how many seconds bots were connected again."""
        for token in tokens:
            eventually(lambda token=token: self._platform.taken_over(token, since) < 60, "the bot is taken over")
            self.takeovers.append(self._platform.taken_over(token, since))


def start(fleet: Fleet, platform: CountingPlatform, hosts: int, bots: int) -> tuple[list[Host], list[str], Bots]:
    tokens = bot_tokens(bots)
    started = list(fleet.start(hosts))
    ids = add_bots(started[0], platform, tokens, started[0].agent())
    fleet.wait_until_shared(hosts, bots)
    parts = {f"bot:{bot_id}": token for bot_id, token in zip(ids, tokens, strict=True)}
    return started, tokens, Bots(fleet, platform, parts)


@pytest.mark.long
def test_nothing_is_lost_or_doubled_when_one_host_is_killed_and_another_is_paused(
    fleet: Fleet, platform: CountingPlatform
) -> None:
    (first, second, third), tokens, bots = start(fleet, platform, hosts=3, bots=6)
    talk = Talk(platform, tokens, per_second=20)
    talk.go_on(2)

    of_first, killed_at = bots.of("host0"), time.monotonic()
    first.kill()
    talk.go_on(4)
    bots.record(of_first, killed_at)
    of_second, paused_at = bots.of("host1"), time.monotonic()
    pause(second.process)
    talk.go_on(4)
    bots.record(of_second, paused_at)
    resume(second.process)
    assert second.exit_status() == FENCED
    talk.go_on(1)

    talk.require_answers()
    assert len(bots.takeovers) == 5
    assert max(bots.takeovers) < TAKEOVER_SECONDS, bots.takeovers
    assert fleet.live() == ["host2"]
    assert "Traceback" not in third.log()


@pytest.mark.long
def test_a_minute_of_kills_and_pauses_loses_and_doubles_nothing(fleet: Fleet, platform: CountingPlatform) -> None:
    hosts, tokens, bots = start(fleet, platform, hosts=3, bots=12)
    talk = Talk(platform, tokens, per_second=40)
    for fault in range(6):
        host = hosts[fault % len(hosts)]
        owned, since = bots.of(f"host{fault % len(hosts)}"), time.monotonic()
        if fault % 2:
            pause(host.process)
            talk.go_on(5)
            resume(host.process)
            assert host.exit_status() == FENCED
        else:
            host.kill()
            talk.go_on(2)
        bots.record(owned, since)
        host.begin()
        talk.go_on(5)
        host.wait_until_ready()
    talk.require_answers()
    assert max(bots.takeovers) < TAKEOVER_SECONDS, sorted(bots.takeovers)
    assert fleet.live() == ["host0", "host1", "host2"]


@pytest.mark.long
def test_a_host_that_is_drained_under_load_gives_everything_away_and_ends_in_order(
    fleet: Fleet, platform: CountingPlatform
) -> None:
    (first, second), tokens, _ = start(fleet, platform, hosts=2, bots=6)
    talk = Talk(platform, tokens, per_second=20)
    with talk.in_background():
        drained = parlour_here("drain", "--host", "host0", "--data", first.data, environment=fleet.environment)
        assert drained.returncode == 0, drained.stderr
        assert "host0: has no work left" in drained.stdout
        assert "host0" not in fleet.owners("")
        eventually(lambda: {*fleet.owners("")} == {"host1"}, "the other Host has taken all parts")
        first.stop()
        second.stop()
        second.start()
    assert max(talk.require_answers()) < 15
    assert talk.repeated() == []


@pytest.mark.long
def test_a_client_may_talk_to_either_host_in_one_conversation(fleet: Fleet, platform: CountingPlatform) -> None:
    first, second = fleet.start(2)
    agent = first.agent()
    eventually(lambda: second.http().get(f"/agents/{agent}").status_code == 200, "the other Host knows the agent")
    for number, host in enumerate((first, second, first, second)):
        answer = host.ask(agent, f"text {number}", key=first.key(), conversation_id="one")
        assert texts(answer) == [f"text {number}"]
    [conversation] = first.items("/conversations")
    said = [text for _, text in second.transcript(conversation["conversation_id"])]
    assert said == [f"text {number}" for number in range(4) for _ in range(2)]


@pytest.mark.long
def test_a_host_outside_the_cluster_and_one_with_another_key_are_refused(fleet: Fleet) -> None:
    fleet.start(1)
    single = fleet.add(PARLOUR__CLUSTER__ENABLED="false")
    single.begin()
    assert single.exit_status(60) == 1
    assert "already served by another Host" in single.log()
    stranger = fleet.add()
    (stranger.data / "secret.key").write_bytes(b"x" * 32)
    stranger.begin()
    assert stranger.exit_status(60) == 1
    assert "copy the file secret.key" in stranger.log()
    assert fleet.live() == ["host0"]
