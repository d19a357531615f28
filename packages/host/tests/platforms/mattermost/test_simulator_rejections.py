"""Tests that the simulated Mattermost rejects what Mattermost rejects."""

import json
from typing import Any

import pytest
from aiohttp import ClientSession, FormData

from parlour.testing.mattermost_simulator import MattermostSimulator
from parlour.testing.mattermost_simulator.world import BOT_ID, make_id

from .conftest import ANN, CHANNEL

NOBODY = make_id("nobody")


async def make(
    simulator: MattermostSimulator, url: str, method: str, path: str, body: Any = None, token: str = ""
) -> tuple[int, str]:
    """Makes a call and returns its status and the name of the error."""
    headers = {"Authorization": f"Bearer {token or simulator.token}"}
    call = {"json": body, "headers": headers}
    async with ClientSession() as session, session.request(method, f"{url}/api/v4/{path}", **call) as response:
        answer = json.loads(await response.text()) if response.content_type == "application/json" else {}
        return response.status, answer.get("id", "") if response.status >= 400 else ""


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"message": "x"}, 400, "api.context.invalid_body_param.app_error"),
        ({"channel_id": "short", "message": "x"}, 400, "api.context.invalid_body_param.app_error"),
        ({"channel_id": NOBODY, "message": "x"}, 403, "api.context.permissions.app_error"),
        ({"channel_id": CHANNEL, "message": "x" * 16384}, 400, "model.post.is_valid.message_length.app_error"),
        ({"channel_id": CHANNEL, "message": "x", "root_id": NOBODY}, 400, "api.post.create_post.root_id.app_error"),
        ({"channel_id": CHANNEL, "file_ids": [NOBODY] * 11}, 400, "model.post.is_valid.file_ids.app_error"),
    ],
)
async def test_an_invalid_post_is_rejected(
    simulator: MattermostSimulator, url: str, body: Any, status: int, code: str
) -> None:
    assert await make(simulator, url, "POST", "posts", body) == (status, code)
    assert simulator.sent() == []


async def test_a_reply_to_a_reply_or_to_another_channel_is_rejected(simulator: MattermostSimulator, url: str) -> None:
    root = simulator.world.write(CHANNEL, ANN, "root")
    reply = simulator.world.write(CHANNEL, ANN, "reply", root_id=root["id"])
    other = simulator.world.add_channel("other", ANN)["id"]
    body = {"channel_id": CHANNEL, "message": "x", "root_id": reply["id"]}
    assert (await make(simulator, url, "POST", "posts", body))[1] == "api.post.create_post.root_id.app_error"
    body = {"channel_id": other, "message": "x", "root_id": root["id"]}
    assert (await make(simulator, url, "POST", "posts", body))[1] == "api.post.create_post.channel_root_id.app_error"


async def test_posts_of_others_deleted_posts_and_archived_channels_are_closed(
    simulator: MattermostSimulator, url: str
) -> None:
    theirs = simulator.world.write(CHANNEL, ANN, "theirs")["id"]
    assert (await make(simulator, url, "PUT", f"posts/{theirs}/patch", {"message": "x"}))[0] == 403
    assert (await make(simulator, url, "DELETE", f"posts/{theirs}"))[0] == 403
    own = simulator.world.write(CHANNEL, BOT_ID, "own")["id"]
    assert (await make(simulator, url, "DELETE", f"posts/{own}"))[0] == 200
    assert (await make(simulator, url, "PUT", f"posts/{own}/patch", {"message": "x"}))[0] == 404
    simulator.world.channels[CHANNEL]["delete_at"] = 1
    answer = await make(simulator, url, "POST", "posts", {"channel_id": CHANNEL, "message": "x"})
    assert answer == (400, "api.post.create_post.can_not_post_to_deleted.error")


async def test_a_wrong_token_a_wrong_id_and_a_foreign_reaction_are_rejected(
    simulator: MattermostSimulator, url: str
) -> None:
    post = simulator.world.write(CHANNEL, ANN, "x")["id"]
    assert (await make(simulator, url, "GET", "users/me", token="no"))[0] == 401
    assert await make(simulator, url, "GET", "posts/short") == (400, "api.context.invalid_url_param.app_error")
    foreign = {"user_id": ANN, "post_id": post, "emoji_name": "+1"}
    assert (await make(simulator, url, "POST", "reactions", foreign))[0] == 403
    odd = {"user_id": BOT_ID, "post_id": post, "emoji_name": "👍"}
    assert (await make(simulator, url, "POST", "reactions", odd))[0] == 400
    assert (await make(simulator, url, "POST", "channels/direct", [ANN, ANN]))[0] == 403
    long = {"display_name": "x" * 65}
    assert (await make(simulator, url, "PUT", f"channels/{CHANNEL}/patch", long))[0] == 400
    direct = simulator.world.direct_channel(ANN, BOT_ID)["id"]
    assert (await make(simulator, url, "DELETE", f"channels/{direct}/members/{ANN}"))[0] == 400


async def test_the_rate_is_limited_with_the_time_of_its_reset(simulator: MattermostSimulator, url: str) -> None:
    simulator.limit = (1.0, 60.0)
    assert (await make(simulator, url, "GET", "users/me"))[0] == 200
    assert (await make(simulator, url, "GET", "users/me"))[0] == 429


async def test_a_large_file_and_one_for_a_foreign_channel_are_rejected(
    simulator: MattermostSimulator, url: str
) -> None:
    simulator.max_file_bytes = 3
    headers = {"Authorization": f"Bearer {simulator.token}"}
    async with ClientSession() as session:
        for channel, status in ((CHANNEL, 413), (NOBODY, 404)):
            form = FormData()
            form.add_field("channel_id", channel)
            form.add_field("files", b"hello", filename="a.txt")
            async with session.post(f"{url}/api/v4/files", data=form, headers=headers) as response:
                assert response.status == status


async def test_a_socket_without_a_login_gets_no_events(simulator: MattermostSimulator, url: str) -> None:
    async with ClientSession() as session:
        async with session.ws_connect(f"{url}/api/v4/websocket") as socket:
            await socket.send_json({"seq": 1, "action": "ping"})
            assert (await socket.receive_json())["status"] == "FAIL"
            await socket.send_json({"seq": 2, "action": "authentication_challenge", "data": {"token": "wrong"}})
            await socket.receive()
            assert socket.closed
        async with session.ws_connect(f"{url}/api/v4/websocket") as socket:
            challenge = {"seq": 1, "action": "authentication_challenge", "data": {"token": simulator.token}}
            await socket.send_json(challenge)
            assert await socket.receive_json() == {"status": "OK", "seq_reply": 1}
            assert (await socket.receive_json())["event"] == "hello"
