"""Chats that begin anew and conversations that are deleted, as their people see it."""

from .chat import Chat
from .harness import Host


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


def test_a_deleted_conversation_is_empty_and_only_its_own_people_may_delete_it(host: Host) -> None:
    agent, owner = host.agent(), host.key("chat", "owner")
    conversation_id = host.ask(agent, "hello", owner, conversation_id="mine")["conversation_id"]
    path = f"/conversations/{conversation_id}"

    assert host.http(host.key("chat", "stranger")).delete(path).status_code == 404
    assert len(host.transcript(conversation_id)) == 2
    assert host.http(owner).delete(path).status_code == 204
    assert host.transcript(conversation_id) == []
    assert [entry["resource"] for entry in host.items("/audit", action="conversation.delete")] == [conversation_id]
