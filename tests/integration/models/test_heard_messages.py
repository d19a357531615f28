"""Tests that messages heard in groups are in backups, are deleted after their own time, and with their conversation."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from parlour.testing.model_server import ModelServer
from tests.support.agents import AgentHost
from tests.support.commands import parlour
from tests.support.harness import Host, eventually
from tests.support.onebot import Peer

FORGETFUL = {
    "PARLOUR__RETENTION__HEARD_DAYS": "0.00001",
    "PARLOUR__RETENTION__FIRST_SECONDS": "0",
    "PARLOUR__RETENTION__EVERY_HOURS": "0.0001",
}
KEPT = {"message.heard": 2, "message.received": 1, "message": 1}


def stored(data: Path) -> Counter[str]:
    """Returns the number of transcript items of each type."""
    with closing(sqlite3.connect(data / "parlour.db", timeout=30)) as database:
        return Counter(dict(database.execute("SELECT item_type, count(*) FROM transcript GROUP BY item_type")))


def hear_and_ask(host: AgentHost, peer: Peer, group: int) -> str:
    """Lets two people talk and a third one ask; returns the id of the conversation."""
    peer.say("Let's meet at 7pm", user=501, group=group)
    peer.say("I'm vegan", user=502, group=group, sender={"nickname": "Bob"})
    items = host.items_in_group(group, 2)
    peer.say("when?", user=503, group=group, mention=True, sender={"nickname": "Cy"})
    peer.next_send()
    return str(items[0]["conversation_id"])


@pytest.fixture
def server() -> ModelServer:
    return ModelServer()


def test_heard_messages_are_in_a_backup_and_are_deleted_after_their_own_time(
    server: ModelServer, tmp_path: Path
) -> None:
    with server:
        host = AgentHost(tmp_path / "first", server)
        _, peer = host.bot(host.local(host.model()))
        hear_and_ask(host, peer, 1)
        peer.close()
        made = parlour("backup", tmp_path / "one.backup", "--data", host.data)
        assert made.returncode == 0, made.stderr
        host.close()

    brought = parlour("restore", tmp_path / "one.backup", "--data", tmp_path / "second" / "data")
    assert brought.returncode == 0, brought.stderr
    assert stored(tmp_path / "second" / "data") == KEPT
    again = Host(tmp_path / "second", **FORGETFUL).start()
    try:
        eventually(lambda: "message.heard" not in stored(again.data), "what was heard is deleted", 30)
        assert stored(again.data) == {"message.received": 1, "message": 1}
    finally:
        again.close()


def test_a_deleted_conversation_takes_what_was_heard_with_it(server: ModelServer, tmp_path: Path) -> None:
    with server:
        host = AgentHost(tmp_path / "deleting", server)
        _, peer = host.bot(host.local(host.model()))
        conversation_id = hear_and_ask(host, peer, 1)
        assert stored(host.data) == KEPT
        assert host.http().delete(f"/conversations/{conversation_id}").status_code == 204
        assert not stored(host.data)
        peer.say("and who?", user=503, group=1, mention=True, sender={"nickname": "Cy"})
        peer.next_send()
        assert "vegan" not in str(host.requests(2)[1])
        found = host.http().get("/runs", params={"q": "vegan"}).json()["items"]
        assert found == []
        peer.close()
        host.close()
