"""Tests long replies on QQ through the real program: as pictures, a merged forward or a file, and on the trail."""

import base64
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.harness import ECHO, ECHO_PLUGIN, Host, eventually
from tests.support.onebot import Peer, free_port

LONG = "A sentence of several words.\n\n" * 20


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("long texts"))
    host.install(ECHO_PLUGIN)
    yield host.start()
    host.close()


class Door:
    """A bot on QQ whose agent repeats what it is told."""

    def __init__(self, host: Host, shape: str) -> None:
        agent = host.agent(ECHO, message_policy={"long_text": {"over": 100, "as": shape}})
        port = free_port()
        made = host.http().post("/bots", json={"name": shape, "adapter": "onebot11", "adapter_config": {"port": port}})
        self.bot_id = made.json()["bot_id"]
        route = {"event_type": "message.*", "handler_type": "agent", "handler_config": {"agent_id": agent}}
        assert host.http().put(f"/bots/{self.bot_id}/routes", json=[route]).status_code == 200
        self.host, self.peer = host, Peer(port)

    def trail(self) -> str:
        """Returns the trail of the bot's only message as soon as it has been sent."""

        def read() -> str:
            [event] = self.host.http().get("/events", params={"bot_id": self.bot_id}).json()["items"]
            steps = self.host.http().get(f"/events/{event['event_id']}/why").json()["steps"]
            text = " ".join(step["text"] for step in steps)
            return text if "so it was sent as" in text else ""

        return eventually(read, "the trail names the form")


@pytest.fixture
def door(host: Host, request: pytest.FixtureRequest) -> Iterator[Door]:
    door = Door(host, request.param)
    yield door
    door.peer.close()
    host.http().delete(f"/bots/{door.bot_id}")


def segments(sent: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each["data"] for each in sent["message"] if each["type"] == kind]


@pytest.mark.parametrize("door", ["image"], indirect=True)
def test_long_reply_is_a_picture(door: Door) -> None:
    door.peer.say(LONG)
    sent = door.peer.next_call("send_private_msg")
    [picture] = segments(sent, "image")
    assert base64.b64decode(picture["file"].removeprefix("base64://")).startswith(b"\x89PNG")
    assert segments(sent, "text") == []
    assert "sent as image" in door.trail()
    door.peer.say("short")
    assert door.peer.next_send()[1] == "short"


@pytest.mark.parametrize("door", ["image"], indirect=True)
def test_text_that_can_not_be_drawn_is_a_file(door: Door) -> None:
    door.peer.say("سلام عليكم " * 30)
    beginning = door.peer.next_call("send_private_msg")
    assert segments(beginning, "text")[0]["text"].endswith(" …")
    [file] = segments(door.peer.next_call("send_private_msg"), "file")
    assert file["name"] == "answer.md"
    assert "sent as file" in door.trail()


@pytest.mark.parametrize("door", ["forward"], indirect=True)
def test_long_reply_is_a_merged_forward_of_the_bot(door: Door) -> None:
    door.peer.say(LONG)
    nodes = door.peer.next_call("send_private_forward_msg")["messages"]
    assert [node["data"]["user_id"] for node in nodes] == ["10001"]
    text = "".join(each["data"]["text"] for node in nodes for each in node["data"]["content"])
    assert text.split() == LONG.split()
    assert "sent as forward" in door.trail()
