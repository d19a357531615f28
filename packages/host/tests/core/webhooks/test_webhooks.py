"""Webhooks: signed, sent until accepted or refused, and limited to the response actions of the route."""

import asyncio
from collections import deque
from itertools import pairwise
from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.encoding import dumps, loads
from parlour.core.model.event import Participant
from parlour.core.model.webhook_signing import signature
from parlour.core.secrets import SecretUnreadable
from parlour.core.store.tables import EVENTS, INBOX, OUTBOX, OUTCOMES, TRAIL
from parlour.core.webhooks.client import MAX_RESPONSE_BYTES, Unreachable, WebhookHttpRequest, WebhookHttpResponse
from parlour.core.webhooks.outbound import CONCURRENCY_PER_BOT

from ..support import World, until

CONFIG = {
    "url": "https://hooks.example/in",
    "method": "POST",
    "sealed_secret": "<whsec_plJ3nmyCDGBKInavdOK15jsl>",
    "sealed_headers": "",
    "header_names": [],
    "timeout": 30,
    "retry_count": 3,
    "retry_interval": 5,
    "response_actions": False,
}


class Box:
    def seal(self, secret: str) -> str:
        return f"<{secret}>"

    def open(self, sealed: str) -> str:
        return sealed[1:-1]


class Receiver:
    """A webhook receiver that returns prepared responses, then accepts everything."""

    def __init__(self) -> None:
        self.prepared: deque[WebhookHttpResponse | Exception] = deque()
        self.requests: list[tuple[float, WebhookHttpRequest]] = []
        self.hold: asyncio.Event | None = None

    async def send(self, request: WebhookHttpRequest) -> WebhookHttpResponse:
        self.requests.append((asyncio.get_running_loop().time(), request))
        if self.hold is not None:
            await self.hold.wait()
        answer = self.prepared.popleft() if self.prepared else WebhookHttpResponse(200, b"")
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def pauses(self) -> list[int]:
        times = [at for at, _ in self.requests]
        return [round(later - earlier) for earlier, later in pairwise(times)]


async def open_world(receiver: Receiver, **config: Any) -> World:
    world = await World.open(hook_sender=receiver, secrets=Box())
    await world.core.routes.replace("bot", [Route("*", "webhook", {**CONFIG, **config}, description="hook")])
    return world


async def send_event(world: World, **fields: Any) -> int:
    accepted = await world.say("hi", surface="platform", **fields)
    await until(lambda: not len(world.core.jobs) and not len(world.core.lanes))
    return accepted.seq


def trail(world: World, seq: int) -> str:
    [note] = world.rows(TRAIL, event_seq=seq, step="webhook")
    return str(loads(note["data"])["text"])


def response_with(*actions: Any) -> WebhookHttpResponse:
    return WebhookHttpResponse(200, dumps({"actions": actions}).encode())


def test_signature_matches_the_example_of_the_standard() -> None:
    body = b'{"event_type":"ping","data":{"success":true}}'
    signed = signature("whsec_plJ3nmyCDGBKInavdOK15jsl", "msg_loFOjxBNrRLzqYUf", 1731705121, body)
    assert signed == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="


async def test_event_is_sent_signed_once_and_settled() -> None:
    receiver = Receiver()
    world = await open_world(receiver)
    seq = await send_event(world, event_id="e1", data={"chat_type": "private", "chat_id": "ann"})
    [(_, request)] = receiver.requests
    body = loads(request.body)
    assert (request.method, request.url) == ("POST", "https://hooks.example/in")
    assert body["bot"]["id"] == "bot"
    assert (body["event"]["type"], body["event"]["event_id"], body["event"]["chat_id"]) == (
        "message.received",
        "e1",
        "ann",
    )
    headers = request.headers
    seconds = int(headers["webhook-timestamp"])
    expected = signature("whsec_plJ3nmyCDGBKInavdOK15jsl", headers["webhook-id"], seconds, request.body)
    assert headers["webhook-signature"] == expected
    assert world.rows(OUTCOMES, event_seq=seq)[0]["outcome"] == "handed"
    assert world.open_jobs() == world.rows(INBOX) == []
    assert trail(world, seq) == "The webhook took it."


async def test_conversation_does_not_wait_for_the_receiver() -> None:
    receiver = Receiver()
    receiver.hold = asyncio.Event()
    world = await open_world(receiver)
    for number in range(3):
        await world.say("hi", surface="platform", event_id=f"e{number}")
    await until(lambda: len(receiver.requests) == 3)
    assert world.rows(INBOX) == []
    receiver.hold.set()
    await until(lambda: not len(world.core.jobs))


async def test_unresponsive_receiver_does_not_block_other_bots() -> None:
    receiver = Receiver()
    receiver.hold = asyncio.Event()
    world = await open_world(receiver)
    await world.core.routes.replace("other", [Route("*", "webhook", CONFIG)])
    for number in range(100):
        await world.say("hi", surface="platform", chat=f"chat {number}")
    await until(lambda: len(receiver.requests) == CONCURRENCY_PER_BOT)
    await world.say("hi", surface="platform", bot_id="other")
    await until(lambda: len(receiver.requests) == CONCURRENCY_PER_BOT + 1)
    receiver.hold.set()
    await until(lambda: not len(world.core.jobs))
    assert len(receiver.requests) == 101


async def test_failed_call_is_retried_with_growing_delays_and_the_same_id() -> None:
    receiver = Receiver()
    receiver.prepared.extend(
        [WebhookHttpResponse(500, b""), Unreachable("it could not be reached"), WebhookHttpResponse(429, b"", 42)]
    )
    world = await open_world(receiver)
    seq = await send_event(world)
    assert receiver.pauses == [5, 10, 42]
    assert len({request.headers["webhook-id"] for _, request in receiver.requests}) == 1
    assert trail(world, seq) == "The webhook took it after 4 tries."


async def test_trail_names_reason_and_time_of_the_next_retry() -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(503, b"", retry_after=90))
    world = await open_world(receiver)
    seq = (await world.say("hi", surface="platform")).seq
    await until(lambda: bool(world.rows(TRAIL, event_seq=seq, step="webhook")))
    expected = "The webhook has not taken it yet: it answered 503; it is tried again after 90 s."
    assert trail(world, seq) == expected
    await until(lambda: not len(world.core.jobs))
    assert trail(world, seq) == "The webhook took it after 2 tries."


async def test_call_is_given_up_after_its_retries_with_a_reason() -> None:
    receiver = Receiver()
    receiver.prepared.extend([WebhookHttpResponse(503, b"")] * 9)
    world = await open_world(receiver)
    seq = await send_event(world)
    assert len(receiver.requests) == 4
    assert trail(world, seq) == "The webhook did not take it after 4 tries: it answered 503."
    assert world.open_jobs() == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (WebhookHttpResponse(404, b""), "it answered 404"),
        (
            WebhookHttpResponse(302, b""),
            "it answered 302, and redirects are not followed; write the address where it leads",
        ),
        (Unreachable("'localhost' is not a public address", permanent=True), "'localhost' is not a public address"),
    ],
)
async def test_permanent_refusal_is_not_retried(answer: WebhookHttpResponse | Exception, reason: str) -> None:
    receiver = Receiver()
    receiver.prepared.append(answer)
    world = await open_world(receiver)
    seq = await send_event(world)
    assert len(receiver.requests) == 1
    assert trail(world, seq) == f"The webhook did not take it: {reason}."


async def test_pending_call_is_sent_after_a_restart_with_its_attempt_count() -> None:
    receiver = Receiver()
    receiver.prepared.extend([WebhookHttpResponse(500, b""), WebhookHttpResponse(500, b"")])
    world = await open_world(receiver)
    await world.say("hi", surface="platform")
    await until(lambda: len(receiver.requests) == 2)
    again = await world.restart(hook_sender=receiver, secrets=Box())
    await until(lambda: not len(again.core.jobs))
    assert len(receiver.requests) == 3
    assert len({request.headers["webhook-id"] for _, request in receiver.requests}) == 1
    assert again.open_jobs() == []


async def test_call_that_repeatedly_stops_the_host_is_given_up() -> None:
    receiver = Receiver()
    receiver.hold = asyncio.Event()
    world = await open_world(receiver, retry_count=1)
    seq = (await world.say("hi", surface="platform")).seq
    for number in range(1, 5):
        await until(lambda: len(receiver.requests) == number)  # noqa: B023
        world = await world.restart(hook_sender=receiver, secrets=Box())
    await until(lambda: not len(world.core.jobs))
    assert len(receiver.requests) == 4
    expected = "The webhook did not take it after 4 tries: the Host stopped in the middle of the last ones."
    assert trail(world, seq) == expected
    assert world.open_jobs() == []


async def test_unreadable_secret_sends_nothing() -> None:
    class UnreadableBox(Box):
        def open(self, sealed: str) -> str:
            raise SecretUnreadable

    receiver = Receiver()
    world = await World.open(hook_sender=receiver, secrets=UnreadableBox())
    await world.core.routes.replace("bot", [Route("*", "webhook", CONFIG)])
    seq = await send_event(world)
    assert receiver.requests == []
    assert "sealed with another key" in trail(world, seq)


REPLY = {"type": "reply", "params": {"text": "from afar"}}


async def test_allowed_reply_goes_to_the_chat_of_the_event() -> None:
    receiver = Receiver()
    receiver.prepared.append(response_with(REPLY))
    world = await open_world(receiver, response_actions=True)
    seq = await send_event(world, chat="here")
    await world.rest()
    assert world.surface.texts == ["from afar"]
    assert world.surface.tries[0].address["chat"] == "here"
    assert trail(world, seq) == "The webhook took it. It asked for reply."


@pytest.mark.parametrize("allowed", [False, [], ["send_message"]])
async def test_disallowed_action_is_ignored(allowed: Any) -> None:
    receiver = Receiver()
    receiver.prepared.append(response_with(REPLY))
    world = await open_world(receiver, response_actions=allowed)
    seq = await send_event(world)
    await world.rest()
    assert world.rows(OUTBOX) == []
    assert ("does not allow" if allowed else "the route's response_actions allow none") in trail(world, seq)


@pytest.mark.parametrize(
    "body", [b"", b" ", b"thank you", b"[1]", b'{"ok": true}', b'{"actions": []}', b"x" * 2_000_000]
)
async def test_response_without_actions_is_accepted(body: bytes) -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(200, body))
    world = await open_world(receiver)
    assert trail(world, await send_event(world)) == "The webhook took it."


async def test_too_long_response_is_refused() -> None:
    receiver = Receiver()
    receiver.prepared.append(
        WebhookHttpResponse(200, dumps({"actions": [REPLY] * 20, "more": "x" * MAX_RESPONSE_BYTES}).encode())
    )
    world = await open_world(receiver, response_actions=True)
    seq = await send_event(world)
    await world.rest()
    assert world.rows(OUTBOX) == []
    assert "Its answer could not be used: it is longer than 1048576 bytes." in trail(world, seq)


async def test_reply_permission_allows_no_other_target() -> None:
    receiver = Receiver()
    other = {"type": "send_message", "params": {"target_type": "group", "target_id": "g", "text": "psst"}}
    receiver.prepared.append(response_with(other, REPLY))
    world = await open_world(receiver, response_actions=True)
    seq = await send_event(world)
    await world.rest()
    assert world.surface.texts == ["from afar"]
    assert "It asked for send_message, which the route does not allow." in trail(world, seq)


@pytest.mark.parametrize(
    "body",
    [b"not json", b'{"actions": 1}', dumps({"actions": [REPLY] * 21}).encode()],
)
async def test_unreadable_response_has_no_effect(body: bytes) -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(200, body))
    world = await open_world(receiver, response_actions=True)
    seq = await send_event(world)
    await world.rest()
    assert world.rows(OUTBOX) == []
    assert "Its answer could not be used" in trail(world, seq)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"type": "kick", "params": {"user_id": "8"}}, "It asked for 'kick', which is none of send_message, reply, "),
        ({"params": {}}, "Its answer could not be used in part: actions.0.type: Field required."),
        ({"type": "reply", "params": "hi"}, "Its answer could not be used in part: actions.0.params: "),
        ("reply", "Its answer could not be used in part: actions.0: it should be an object."),
    ],
)
async def test_invalid_action_does_not_affect_the_others(other: Any, expected: str) -> None:
    receiver = Receiver()
    receiver.prepared.append(response_with(other, REPLY))
    world = await open_world(receiver, response_actions=True)
    seq = await send_event(world)
    await world.rest()
    assert world.surface.texts == ["from afar"]
    assert expected in trail(world, seq)
    assert trail(world, seq).endswith("It asked for reply.")


async def test_reply_and_end_of_the_call_are_one_unit() -> None:
    receiver = Receiver()
    receiver.prepared.append(response_with(REPLY))
    world = await open_world(receiver, response_actions=True)
    world.journal.broken["job.end"] = 1
    await send_event(world)
    await world.rest()
    assert len(receiver.requests) == 1, "the end is recorded later, and the call is not sent again"
    assert world.surface.texts == ["from afar"]
    assert len(world.rows(EVENTS)) == 1


async def test_call_of_a_deleted_conversation_is_not_repeated() -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(500, b""))
    world = await open_world(receiver)
    accepted = await world.say("a secret", surface="platform")
    await until(lambda: len(receiver.requests) == 1)
    await world.core.conversation_eraser.erase(accepted.conversation_id, Participant("user", "ann"))
    await until(lambda: not len(world.core.jobs))
    assert len(receiver.requests) == 1
    assert world.open_jobs() == []
