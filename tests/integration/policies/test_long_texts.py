"""Tests the replies of policies on QQ through the real program: long ones in each form, and their style."""

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

    def __init__(self, host: Host, policy: dict[str, Any]) -> None:
        agent = host.agent(ECHO, message_policy=policy)
        port = free_port()
        made = host.http().post("/bots", json={"name": "q", "adapter": "onebot11", "adapter_config": {"port": port}})
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


def sent_as(shape: str) -> dict[str, Any]:
    return {"long_text": {"over": 100, "as": shape}}


@pytest.fixture
def door(host: Host, request: pytest.FixtureRequest) -> Iterator[Door]:
    door = Door(host, request.param)
    yield door
    door.peer.close()
    host.http().delete(f"/bots/{door.bot_id}")


def segments(sent: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each["data"] for each in sent["message"] if each["type"] == kind]


@pytest.mark.parametrize("door", [sent_as("image")], indirect=True)
def test_long_reply_is_a_picture(door: Door) -> None:
    door.peer.say(LONG)
    sent = door.peer.next_call("send_private_msg")
    [picture] = segments(sent, "image")
    assert base64.b64decode(picture["file"].removeprefix("base64://")).startswith(b"\x89PNG")
    assert segments(sent, "text") == []
    assert "sent as image" in door.trail()
    door.peer.say("short")
    assert door.peer.next_send()[1] == "short"


@pytest.mark.parametrize("door", [sent_as("image")], indirect=True)
def test_text_that_can_not_be_drawn_is_a_file(door: Door) -> None:
    door.peer.say("سلام عليكم " * 30)
    beginning = door.peer.next_call("send_private_msg")
    assert segments(beginning, "text")[0]["text"].endswith(" …")
    [file] = segments(door.peer.next_call("send_private_msg"), "file")
    assert file["name"] == "answer.md"
    assert "sent as file" in door.trail()


@pytest.mark.parametrize("door", [sent_as("forward")], indirect=True)
def test_long_reply_is_a_merged_forward_of_the_bot(door: Door) -> None:
    door.peer.say(LONG)
    nodes = door.peer.next_call("send_private_forward_msg")["messages"]
    assert [node["data"]["user_id"] for node in nodes] == ["10001"]
    text = "".join(each["data"]["text"] for node in nodes for each in node["data"]["content"])
    assert text.split() == LONG.split()
    assert "sent as forward" in door.trail()


STYLE = {"reply": {"mention_sender": True, "quote": "first"}, "long_text": {"over": 100, "as": "file"}}


@pytest.mark.parametrize("door", [STYLE], indirect=True)
def test_reply_mentions_and_quotes_in_its_first_message_only(door: Door) -> None:
    asked = door.peer.say(LONG, group=5, mention=True)
    first = door.peer.next_call("send_group_msg")
    assert [str(each["id"]) for each in segments(first, "reply")] == [str(asked)]
    assert [str(each["qq"]) for each in segments(first, "at")] == ["7"]
    file = door.peer.next_call("send_group_msg")
    assert [each["type"] for each in file["message"]] == ["file"]

    door.peer.say("in private")
    private = door.peer.next_call("send_private_msg")
    assert segments(private, "at") == []


@pytest.mark.parametrize("door", [{"reply": {"quote": "never"}}], indirect=True)
def test_reply_without_a_style_neither_mentions_nor_quotes(door: Door) -> None:
    door.peer.say("hello", group=5, mention=True)
    assert [each["type"] for each in door.peer.next_call("send_group_msg")["message"]] == ["text"]
