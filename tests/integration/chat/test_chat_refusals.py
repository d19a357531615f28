"""Tests refused chat connections and the errors that clients receive."""

import asyncio

from tests.support.chat import Chat
from tests.support.commands import parlour_here
from tests.support.harness import Host


async def refusal_of(chat: Chat) -> tuple[str, int | None]:
    """Returns the code of the error frame and the close code."""
    async with chat:
        await asyncio.wait_for(chat.socket.wait_closed(), 30)
        [frame] = chat.frames
        assert frame["type"] == "error"
        assert frame["message"]
        return frame["code"], chat.socket.close_code


async def test_a_wrong_key_is_refused(host: Host) -> None:
    assert await refusal_of(Chat(host, host.agent(), key="parlour_wrong")) == ("unauthenticated", 4401)


async def test_an_unknown_agent_is_refused(host: Host) -> None:
    assert await refusal_of(Chat(host, "nobody")) == ("not_found", 4404)


async def test_a_viewer_may_not_chat(host: Host) -> None:
    assert await refusal_of(Chat(host, host.agent(), key=host.key("viewer"))) == ("forbidden", 4403)


async def test_a_chat_key_may_chat(host: Host) -> None:
    async with Chat(host, host.agent(), key=host.key("chat")) as chat:
        assert await chat.answer("hello") == "hello"


async def test_a_connection_ends_when_its_key_is_revoked(host: Host) -> None:
    key = host.key("chat", "soon revoked")
    lines = parlour_here("keys", "list", "--data", host.data).stdout.splitlines()
    key_id = next(line.split()[0] for line in lines if line.endswith("soon revoked"))
    async with Chat(host, host.agent(), key=key) as chat:
        assert await chat.answer("before") == "before"
        parlour_here("keys", "revoke", key_id, "--data", host.data)

        await chat.say("after")

        assert (await chat.until("error"))["code"] == "unauthenticated"
        assert [speaker for speaker, _ in host.transcript(chat.conversation_id)] == ["user", "assistant"]
