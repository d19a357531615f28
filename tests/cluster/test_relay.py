"""Tests requests to a Host that does not own their conversation, with real Hosts on a real PostgreSQL."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from parlour.testing.network import free_port
from parlour.testing.postgres_server import PostgresServer
from parlour_sdk.values import dataclass
from tests.support.chat import Chat
from tests.support.fleet import Fleet
from tests.support.harness import PUPPET, PUPPET_PLUGIN, Host, bearer, eventually, texts

pytestmark = pytest.mark.long


@dataclass(frozen=True, slots=True)
class Pair:
    """Two Hosts: the other one reaches the first, but not the other way round."""

    reachable: Host
    unreachable: Host
    agent: str
    key: str


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with PostgresServer() as server, Fleet(server, tmp_path_factory.mktemp("fleet")) as fleet:
        hosts = [
            fleet.add(free_port(), PUPPET_PLUGIN),
            fleet.add(free_port(), PUPPET_PLUGIN, PARLOUR__CLUSTER__ADDRESS="http://127.0.0.1:9"),
        ]
        for host in hosts:
            host.begin()
        for host in hosts:
            host.wait_until_ready()
        first, second = hosts
        agent = first.agent(PUPPET, published=["openai"])
        eventually(lambda: second.http().get(f"/agents/{agent}").status_code == 200, "both Hosts know the agent")
        eventually(lambda: len(fleet.owners("shard")) == 2, "both Hosts own conversations")
        yield Pair(first, second, agent, first.key("operator"))


def accepted(host: Host) -> int:
    """Returns how many events a Host has accepted itself."""
    figures = httpx.get(f"{host.address}/metrics", headers=bearer(host.key()))
    assert figures.status_code == 200, figures.text
    return sum(map(int, re.findall(r"^parlour_events_total\{[^}]*\} (\d+)", figures.text, re.M)))


def gate(host: Host, name: str) -> Path:
    """Returns the file that lets a run on a Host end."""
    return host.shared_file(name)


async def test_a_chat_through_another_host_is_live_and_can_be_cancelled(pair: Pair) -> None:
    owner, other, key = pair.reachable, pair.unreachable, pair.key
    opened = gate(owner, "chat")
    async with Chat(owner, pair.agent, "relayed", key) as begun, Chat(other, pair.agent, "relayed", key) as chat:
        assert chat.conversation_id == begun.conversation_id
        await chat.say(f"gate {opened}")
        assert (await chat.until("delta"))["content"] == "waiting "
        opened.touch()
        await chat.until("run", status="completed")
        assert [each["message"]["content"] for each in chat.of("message")] == ["waiting is over"]
        await chat.say("sleep")
        await chat.until("run", status="running")
        await chat.send(type="cancel")
        await chat.until("run", status="cancelled")
        assert (await begun.until("run", status="cancelled"))["run_id"] == chat.frames[-1]["run_id"]


async def test_a_stream_of_server_sent_events_through_another_host_is_live(pair: Pair) -> None:
    opened = gate(pair.reachable, "sse")
    headers = {**bearer(pair.key), "X-Parlour-Session": "sse"}
    async with httpx.AsyncClient(headers=headers, timeout=30) as client:

        def question(text: str, stream: bool) -> dict[str, object]:
            return {"model": f"agent:{pair.agent}", "stream": stream, "messages": [{"role": "user", "content": text}]}

        path = "/v1/chat/completions"
        first = await client.post(pair.reachable.address + path, json=question("say hello", False))
        assert first.status_code == 200, first.text
        asked = question(f"gate {opened}", True)
        async with client.stream("POST", pair.unreachable.address + path, json=asked) as answer:
            assert answer.status_code == 200
            lines = answer.aiter_lines()
            async with asyncio.timeout(30):
                while "waiting " not in await anext(lines):
                    pass
            opened.touch()
            assert "is over" in "".join([line async for line in lines])


def test_an_event_for_another_host_is_accepted_there_and_its_run_is_cancelled_there(pair: Pair) -> None:
    owner, other = pair.reachable, pair.unreachable
    owner.ask(pair.agent, "say first", pair.key, conversation_id="api")
    before = accepted(owner), accepted(other)
    answer = other.ask(pair.agent, "say second", pair.key, conversation_id="api")
    assert texts(answer) == ["second"]
    assert (accepted(owner), accepted(other)) == (before[0] + 1, before[1])

    other.send(pair.agent, "sleep", pair.key, conversation_id="api")
    run_id = owner.active_run(pair.agent)
    assert other.http(pair.key).post(f"/runs/{run_id}/cancel").status_code == 200
    assert owner.run(run_id)["status"] == "cancelled"


async def test_without_a_way_to_the_owner_messages_are_answered_without_live_text(pair: Pair) -> None:
    owner, other, key = pair.unreachable, pair.reachable, pair.key
    opened = gate(owner, "unreachable")
    async with Chat(owner, pair.agent, "apart", key) as begun, Chat(other, pair.agent, "apart", key) as chat:
        assert chat.conversation_id == begun.conversation_id
        await chat.say(f"gate {opened}")
        await begun.until("delta")
        opened.touch()
        await chat.until("run", status="completed")
        assert [each["message"]["content"] for each in chat.of("message")] == ["waiting is over"]
        assert chat.of("delta") == []


def test_without_a_way_to_the_owner_events_are_accepted_here_and_answered_there(pair: Pair) -> None:
    owner, other = pair.unreachable, pair.reachable
    owner.ask(pair.agent, "say first", pair.key, conversation_id="apart")
    before = accepted(other)
    assert texts(other.ask(pair.agent, "say second", pair.key, conversation_id="apart")) == ["second"]
    assert accepted(other) == before + 1
