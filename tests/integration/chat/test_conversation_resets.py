"""Tests resets of chats and deletion of conversations, as users see them."""

from pathlib import Path

from tests.support.chat import Chat
from tests.support.harness import PUPPET, Host


async def test_an_open_socket_follows_its_session_into_the_new_conversation(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent, session="anew") as chat:
        assert await chat.answer("before") == "before"
        made = host.http().post(f"/agents/{agent}/chat/anew/reset")
        new = made.json()["conversation_id"]
        assert made.status_code == 200
        assert await chat.answer("after") == "after"

    assert [frame["conversation_id"] for frame in chat.of("connected")] == [chat.conversation_id, new]
    assert host.transcript(chat.conversation_id) == [("user", "before"), ("assistant", "before")]
    assert host.transcript(new) == [("user", "after"), ("assistant", "after")]


def test_a_deleted_conversation_is_empty_and_only_its_own_key_may_delete_it(host: Host) -> None:
    agent, owner = host.agent(), host.key("chat", "owner")
    conversation_id = host.ask(agent, "hello", owner, conversation_id="mine")["conversation_id"]
    path = f"/conversations/{conversation_id}"

    assert host.http(host.key("chat", "stranger")).delete(path).status_code == 404
    assert len(host.transcript(conversation_id)) == 2
    assert host.http(owner).delete(path).status_code == 204
    assert host.transcript(conversation_id) == []
    deleted = [entry["resource"] for entry in host.items("/audit", action="conversation.delete")]
    assert deleted.count(conversation_id) == 1


async def test_every_tab_of_a_session_follows_a_reset_and_sees_a_stop(host: Host, gate_file: Path) -> None:
    agent = host.agent(PUPPET)
    async with Chat(host, agent, session="tabs") as one, Chat(host, agent, session="tabs") as other:
        await one.say(f"gate {gate_file}")
        await other.until("delta")
        await other.say("/stop")
        assert (await one.until("run", status="cancelled"))["run_id"] == other.of("delta")[0]["run_id"]
        assert (await one.until("message"))["message"]["content"] == "Stopped."
        await one.say("/new")
        moved = await other.until("connected")
        assert moved["conversation_id"] != one.conversation_id
        assert "new conversation" in (await other.until("message"))["message"]["content"]
        await one.say("say hello")
        assert (await other.until("message"))["message"]["content"] == "hello"

    assert host.transcript(moved["conversation_id"]) == [("user", "say hello"), ("assistant", "hello")]
    assert [role for role, _ in host.transcript(one.conversation_id)] == ["user", "assistant"]  # what was shown
