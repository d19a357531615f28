"""Tests that what a person saw of an answer that was interrupted is in the next request, and nothing else."""

from collections.abc import Iterator

import pytest

from parlour.testing.model_server import ModelServer, Raw, Say, event
from tests.support.agent_doors import DOORS, LAST_WORD, open_door
from tests.support.agents import AgentHost
from tests.support.chat import Chat

from .test_agent_findings import answers, said

pytestmark = pytest.mark.long

NOTE = "(interrupted here)"
WORDS = " ".join(f"word{number}" for number in range(20))
STREAM = b"".join(event({"content": f"{' ' if number else ''}word{number}"}) for number in range(20))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentHost]:
    with ModelServer() as server:
        host = AgentHost(tmp_path_factory.mktemp("interrupted"), server, PARLOUR__RUNS__PER_SENDER_PER_MINUTE="10000")
        yield host
        host.close()


@pytest.fixture(autouse=True)
def nothing_asked(host: AgentHost) -> None:
    host.server.forget()


@pytest.mark.parametrize("door", DOORS)
async def test_the_text_that_was_seen_before_a_stop_is_remembered(host: AgentHost, door: str) -> None:
    async with open_door(door, host, host.local(host.model())) as chat:
        host.server.will(Raw(STREAM, then="stall"), Say("Here is the rest."))
        seen = await chat.stop("tell a story")
        assert seen == ("" if door == "onebot" else WORDS)
        assert await chat.ask("go on") == "Here is the rest."
    next_request = said(answers(host)[1])
    assert next_request.count(NOTE) == (1 if seen else 0)
    assert f"{seen} {NOTE}" in next_request if seen else LAST_WORD not in next_request
    assert "tell a story" in next_request


async def test_text_that_came_in_one_burst_before_the_service_was_gone_is_seen_and_remembered(host: AgentHost) -> None:
    async with Chat(host, host.local(host.model())) as chat:
        for number in range(5):
            host.server.will(Raw(STREAM, then="cut"))
            await chat.say(f"tell story {number}")
            await chat.until("run", status="failed")
        assert chat.deltas == WORDS * 5
        assert await chat.answer("go on") == "pong"
    assert said(answers(host)[-1]).count(f"{WORDS} {NOTE}") == 5
