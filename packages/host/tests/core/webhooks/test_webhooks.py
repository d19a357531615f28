"""Webhooks: signed, owed until they are taken or refused, and their answers do what the route allows and no more."""

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
from parlour.core.store.tables import EVENTS, INBOX, OUTBOX, OUTCOMES, TRAIL, WEBHOOK_CALLS
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
    """The other side: gives one prepared answer after the other, then takes everything."""

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


async def opened(receiver: Receiver, **config: Any) -> World:
    world = await World.open(hook_sender=receiver, secrets=Box())
    await world.core.routes.replace("bot", [Route("*", "webhook", {**CONFIG, **config}, description="hook")])
    return world


async def said(world: World, **fields: Any) -> int:
    accepted = await world.say("hi", surface="platform", **fields)
    await until(lambda: not len(world.core.webhooks) and not len(world.core.lanes))
    return accepted.seq


def trail(world: World, seq: int) -> str:
    [note] = world.rows(TRAIL, event_seq=seq, step="webhook")
    return str(loads(note["data"])["text"])


def answering(*actions: Any) -> WebhookHttpResponse:
    return WebhookHttpResponse(200, dumps({"actions": actions}).encode())


def test_the_signature_is_that_of_the_standards_own_example() -> None:
    body = b'{"event_type":"ping","data":{"success":true}}'
    signed = signature("whsec_plJ3nmyCDGBKInavdOK15jsl", "msg_loFOjxBNrRLzqYUf", 1731705121, body)
    assert signed == "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0="


async def test_an_event_is_sent_once_signed_with_its_bot_and_settled() -> None:
    receiver = Receiver()
    world = await opened(receiver)
    seq = await said(world, event_id="e1", data={"chat_type": "private", "chat_id": "ann"})
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
    assert world.rows(WEBHOOK_CALLS) == world.rows(INBOX) == []
    assert trail(world, seq) == "The webhook took it."


async def test_the_conversation_does_not_wait_for_the_other_side() -> None:
    receiver = Receiver()
    receiver.hold = asyncio.Event()
    world = await opened(receiver)
    for number in range(3):
        await world.say("hi", surface="platform", event_id=f"e{number}")
    await until(lambda: len(receiver.requests) == 3)
    assert world.rows(INBOX) == []
    receiver.hold.set()
    await until(lambda: not len(world.core.webhooks))


async def test_an_address_that_does_not_answer_holds_up_no_other_bot() -> None:
    receiver = Receiver()
    receiver.hold = asyncio.Event()
    world = await opened(receiver)
    await world.core.routes.replace("other", [Route("*", "webhook", CONFIG)])
    for number in range(100):
        await world.say("hi", surface="platform", chat=f"chat {number}")
    await until(lambda: len(receiver.requests) == CONCURRENCY_PER_BOT)
    await world.say("hi", surface="platform", bot_id="other")
    await until(lambda: len(receiver.requests) == CONCURRENCY_PER_BOT + 1)
    receiver.hold.set()
    await until(lambda: not len(world.core.webhooks))
    assert len(receiver.requests) == 101


async def test_what_is_not_taken_is_tried_again_with_growing_pauses_under_the_same_id() -> None:
    receiver = Receiver()
    receiver.prepared.extend(
        [WebhookHttpResponse(500, b""), Unreachable("it could not be reached"), WebhookHttpResponse(429, b"", 42)]
    )
    world = await opened(receiver)
    seq = await said(world)
    assert receiver.pauses == [5, 10, 42]
    assert len({request.headers["webhook-id"] for _, request in receiver.requests}) == 1
    assert trail(world, seq) == "The webhook took it after 4 tries."


async def test_while_it_is_tried_again_the_trail_says_why_and_when() -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(503, b"", retry_after=90))
    world = await opened(receiver)
    seq = (await world.say("hi", surface="platform")).seq
    await until(lambda: bool(world.rows(TRAIL, event_seq=seq, step="webhook")))
    told = "The webhook has not taken it yet: it answered 503; it is tried again after 90 s."
    assert trail(world, seq) == told
    await until(lambda: not len(world.core.webhooks))
    assert trail(world, seq) == "The webhook took it after 2 tries."


async def test_after_its_tries_it_is_given_up_and_the_trail_says_why() -> None:
    receiver = Receiver()
    receiver.prepared.extend([WebhookHttpResponse(503, b"")] * 9)
    world = await opened(receiver)
    seq = await said(world)
    assert len(receiver.requests) == 4
    assert trail(world, seq) == "The webhook did not take it after 4 tries: it answered 503."
    assert world.rows(WEBHOOK_CALLS) == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (WebhookHttpResponse(404, b""), "it answered 404"),
        (
            WebhookHttpResponse(302, b""),
            "it answered 302, and redirects are not followed; write the address where it leads",
        ),
        (Unreachable("'localhost' is not a public address", permanent=True), "'localhost' is not a public address"),
    ],
)
async def test_a_plain_no_is_not_asked_again(answer: WebhookHttpResponse | Exception, told: str) -> None:
    receiver = Receiver()
    receiver.prepared.append(answer)
    world = await opened(receiver)
    seq = await said(world)
    assert len(receiver.requests) == 1
    assert trail(world, seq) == f"The webhook did not take it: {told}."


async def test_what_was_owed_is_sent_after_a_restart_and_tries_go_on_counting() -> None:
    receiver = Receiver()
    receiver.prepared.extend([WebhookHttpResponse(500, b""), WebhookHttpResponse(500, b"")])
    world = await opened(receiver)
    await world.say("hi", surface="platform")
    await until(lambda: len(receiver.requests) == 2)
    again = await world.restart(hook_sender=receiver, secrets=Box())
    await until(lambda: not len(again.core.webhooks))
    assert len(receiver.requests) == 3
    assert len({request.headers["webhook-id"] for _, request in receiver.requests}) == 1
    assert again.rows(WEBHOOK_CALLS) == []


async def test_what_stops_the_host_in_the_middle_of_every_try_is_given_up() -> None:
    receiver = Receiver()
    receiver.hold = asyncio.Event()
    world = await opened(receiver, retry_count=1)
    seq = (await world.say("hi", surface="platform")).seq
    for number in range(1, 5):
        await until(lambda: len(receiver.requests) == number)  # noqa: B023
        world = await world.restart(hook_sender=receiver, secrets=Box())
    await until(lambda: not len(world.core.webhooks))
    assert len(receiver.requests) == 4
    told = "The webhook did not take it after 4 tries: the Host stopped in the middle of the last ones."
    assert trail(world, seq) == told
    assert world.rows(WEBHOOK_CALLS) == []


async def test_a_secret_of_another_key_is_said_so_and_nothing_is_sent() -> None:
    class Broken(Box):
        def open(self, sealed: str) -> str:
            raise SecretUnreadable

    receiver = Receiver()
    world = await World.open(hook_sender=receiver, secrets=Broken())
    await world.core.routes.replace("bot", [Route("*", "webhook", CONFIG)])
    seq = await said(world)
    assert receiver.requests == []
    assert "sealed with another key" in trail(world, seq)


REPLY = {"type": "reply", "params": {"text": "from afar"}}


async def test_an_answer_replies_where_its_event_came_from_when_the_route_allows_it() -> None:
    receiver = Receiver()
    receiver.prepared.append(answering(REPLY))
    world = await opened(receiver, response_actions=True)
    seq = await said(world, chat="here")
    await world.rest()
    assert world.surface.texts == ["from afar"]
    assert world.surface.tries[0].address["chat"] == "here"
    assert trail(world, seq) == "The webhook took it. It asked for reply."


@pytest.mark.parametrize("allowed", [False, [], ["send_message"]])
async def test_an_answer_the_route_does_not_allow_does_nothing(allowed: Any) -> None:
    receiver = Receiver()
    receiver.prepared.append(answering(REPLY))
    world = await opened(receiver, response_actions=allowed)
    seq = await said(world)
    await world.rest()
    assert world.rows(OUTBOX) == []
    assert ("does not allow" if allowed else "the route's response_actions allow none") in trail(world, seq)


@pytest.mark.parametrize(
    "body", [b"", b" ", b"thank you", b"[1]", b'{"ok": true}', b'{"actions": []}', b"x" * 2_000_000]
)
async def test_what_asks_for_nothing_where_nothing_is_allowed_is_no_trouble(body: bytes) -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(200, body))
    world = await opened(receiver)
    assert trail(world, await said(world)) == "The webhook took it."


async def test_an_answer_that_was_cut_is_said_to_be_too_long() -> None:
    receiver = Receiver()
    receiver.prepared.append(
        WebhookHttpResponse(200, dumps({"actions": [REPLY] * 20, "more": "x" * MAX_RESPONSE_BYTES}).encode())
    )
    world = await opened(receiver, response_actions=True)
    seq = await said(world)
    await world.rest()
    assert world.rows(OUTBOX) == []
    assert "Its answer could not be used: it is longer than 1048576 bytes." in trail(world, seq)


async def test_plain_permission_names_no_other_target() -> None:
    receiver = Receiver()
    other = {"type": "send_message", "params": {"target_type": "group", "target_id": "g", "text": "psst"}}
    receiver.prepared.append(answering(other, REPLY))
    world = await opened(receiver, response_actions=True)
    seq = await said(world)
    await world.rest()
    assert world.surface.texts == ["from afar"]
    assert "It asked for send_message, which the route does not allow." in trail(world, seq)


@pytest.mark.parametrize(
    "body",
    [b"not json", b'{"actions": 1}', dumps({"actions": [REPLY] * 21}).encode()],
)
async def test_an_answer_that_can_not_be_read_is_said_so_and_nothing_is_half_done(body: bytes) -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(200, body))
    world = await opened(receiver, response_actions=True)
    seq = await said(world)
    await world.rest()
    assert world.rows(OUTBOX) == []
    assert "Its answer could not be used" in trail(world, seq)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"type": "kick", "params": {"user_id": "8"}}, "It asked for 'kick', which is none of send_message, reply, "),
        ({"params": {}}, "Its answer could not be used in part: actions.0.type: Field required."),
        ({"type": "reply", "params": "hi"}, "Its answer could not be used in part: actions.0.params: "),
        ("reply", "Its answer could not be used in part: actions.0: it should be an object."),
    ],
)
async def test_an_action_that_there_is_not_takes_nothing_from_the_others(other: Any, told: str) -> None:
    receiver = Receiver()
    receiver.prepared.append(answering(other, REPLY))
    world = await opened(receiver, response_actions=True)
    seq = await said(world)
    await world.rest()
    assert world.surface.texts == ["from afar"]
    assert told in trail(world, seq)
    assert trail(world, seq).endswith("It asked for reply.")


async def test_a_reply_and_the_end_of_its_call_are_one_step() -> None:
    receiver = Receiver()
    receiver.prepared.append(answering(REPLY))
    world = await opened(receiver, response_actions=True)
    world.journal.broken["webhook.end"] = 1
    await said(world)
    await world.rest()
    assert len(receiver.requests) == 2, "what could not be recorded is sent again"
    assert world.surface.texts == []
    assert len(world.rows(EVENTS)) == 1


async def test_what_was_deleted_meanwhile_is_not_sent() -> None:
    receiver = Receiver()
    receiver.prepared.append(WebhookHttpResponse(500, b""))
    world = await opened(receiver)
    accepted = await world.say("a secret", surface="platform")
    await until(lambda: len(receiver.requests) == 1)
    await world.core.conversation_eraser.erase(accepted.conversation_id, Participant("user", "ann"))
    await until(lambda: not len(world.core.webhooks))
    assert len(receiver.requests) == 1
    assert world.rows(WEBHOOK_CALLS) == []
