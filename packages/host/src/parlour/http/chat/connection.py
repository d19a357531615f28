"""One chat socket: what was missed, then frames as they come; messages and cancels in."""

import asyncio
import contextlib
from collections import deque
from dataclasses import replace
from operator import itemgetter
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from pydantic_core import to_json

from parlour.core.approvals.deciders import Decider
from parlour.core.approvals.service import Approvals
from parlour.core.delivery.feed import Feed, Frame, Subscription, outgoing_frame, run_frame
from parlour.core.errors import Refused
from parlour.core.ingest.gateway import Closed
from parlour.core.journal import StorageFailed
from parlour.core.model.providers import ProviderFailed
from parlour.core.runs.control import RunControl
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutgoingRows
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, matched
from parlour.core.texts.translation import translate

from ..errors import Problem
from ..principals import Authenticator, Principal
from ..runs.endpoints import CANCELLED
from ..socket_control import EXTENSION, SocketControl
from .frames import CLIENT_FRAMES, ApproveFrame, CancelFrame, DisconnectFrame, MessageFrame, PingFrame
from .session import ChatSession
from .user_messages import MOST, Said, said_frame

MISSED_MESSAGES_AT_ONCE = 1
"""Messages that a client which does not read may hold in memory, beside the frame that is on its way."""
TOO_SLOW = 1013
TOO_SLOW_REASON = "too slow; connect again with after"


class ChatConnection:
    def __init__(
        self,
        socket: WebSocket,
        chat: ChatSession,
        principal: Principal,
        authenticator: Authenticator,
        feed: Feed,
        rows: OutgoingRows,
        said: Said,
        ledger: Ledger,
        runs: RunControl,
        approvals: Approvals,
    ) -> None:
        self._approvals = approvals
        self._socket = socket
        self._chat = chat
        self._principal = principal
        self._authenticator = authenticator
        self._feed = feed
        self._rows = rows
        self._said = said
        self._ledger = ledger
        self._runs = runs
        self._cancelling: set[asyncio.Task[None]] = set()
        self.agent_id, self.session, self.owner = chat.agent_id, chat.name, principal.owner
        self._seq = 0
        self._hears = False
        self._heard: deque[str] = deque(maxlen=2 * MOST)
        """Events of which it was told that they were said, so that each is told once."""
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()
        """Held while frames are sent from the feed, so that none is told out of order when the session begins anew."""
        self._subscription: Subscription
        self._control: SocketControl = socket.scope["extensions"][EXTENSION]
        self._loop = asyncio.get_running_loop()
        self._blocked_since = 0.0
        """When the frame began to be sent that the client has not taken yet; 0 when there is none."""

    async def serve(self, after: int | None, hears: bool) -> None:
        """`hears`: whether it wants to be told of what people say."""
        self._hears = hears
        self._subscription = self._subscribe()
        try:
            await self._greet(after)
            writer = asyncio.create_task(self._write())
            try:
                await self._read()
            finally:
                writer.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await writer
        except (WebSocketDisconnect, RuntimeError):
            pass  # the client left; what it missed waits for it
        finally:
            self._feed.unsubscribe(self._chat.conversation_id, self._subscription)

    def show(self, frame: Frame) -> None:
        self._subscription.put(frame)

    def blocked_seconds(self) -> float:
        return self._loop.time() - self._blocked_since if self._blocked_since else 0.0

    def cut(self) -> None:
        self._blocked_since = 0.0  # it is being closed: once is enough
        self._control.cut(TOO_SLOW, TOO_SLOW_REASON)

    def _subscribe(self) -> Subscription:
        subscription = self._feed.subscribe(self._chat.conversation_id)
        subscription.on_frame(self._wake.set)
        return subscription

    async def _follow(self, conversation_id: str) -> None:
        """The session began anew: what is said from now on is said there."""
        async with self._turn:
            if conversation_id == self._chat.conversation_id:
                return
            self._feed.unsubscribe(self._chat.conversation_id, self._subscription)
            self._chat = replace(self._chat, conversation_id=conversation_id)
            self._subscription = self._subscribe()
            await self._greet(self._seq)
        self._wake.set()

    async def _greet(self, after: int | None) -> None:
        """The subscription stands before what was missed is read, so nothing falls between the two."""
        conversation_id = self._chat.conversation_id
        self._seq = await self._rows.last_feed_seq(conversation_id) if after is None else after
        await self._send(
            {
                "type": "connected",
                "session": self._chat.name,
                "agent_id": self._chat.agent_id,
                "conversation_id": conversation_id,
            }
        )
        if after is not None:
            await self._tell_missed()
        live = self._feed.live(conversation_id)
        for frame in live.missed(self._seq if after is not None else live.started - 1) if live else ():
            await self._send(frame)

    async def _tell_missed(self) -> None:
        """What was said, messages and ends of runs that were shown since, in their order."""
        conversation_id, seen = self._chat.conversation_id, self._seq
        others: list[tuple[int, Frame | int]] = [
            (int(run["feed_seq"]), run_frame(run["run_id"], run["status"], run["feed_seq"]))
            for run in await self._ledger.ended_after(conversation_id, seen)
        ]
        if self._hears:
            others += await self._said.since(conversation_id, seen)
        others.sort(key=itemgetter(0))
        while rows := await self._rows.shown_after(conversation_id, seen, MISSED_MESSAGES_AT_ONCE):
            for row in rows:
                while others and others[0][0] < row.feed_seq:
                    await self._tell_other(others.pop(0)[1])
                await self._send(outgoing_frame(row))
            seen = rows[-1].feed_seq
        for _, other in others:
            await self._tell_other(other)

    async def _tell_other(self, other: Frame | int) -> None:
        """Sends a frame, or what was said by the event of this number."""
        frame = await self._said.frame(other, self._chat.event_prefix) if isinstance(other, int) else other
        if frame is not None:
            await self._tell(frame)

    async def _tell(self, frame: Frame) -> None:
        """Each in its turn; what was said to those who want to hear it, and once.

        What was said counts by its event: a message may have taken its number before it and be shown after it.
        """
        if frame["type"] != "said":
            await self._send(frame)
        elif self._hears and frame["event_id"] not in self._heard:
            self._heard.append(frame["event_id"])
            await self._send({name: value for name, value in frame.items() if name != "seq"})

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._subscription.overrun:
                self._blocked_since = self._blocked_since or self._loop.time()
                await self._socket.close(TOO_SLOW, TOO_SLOW_REASON)
                return
            successor = ""
            async with self._turn:
                for frame in self._subscription.take():
                    if frame["type"] == "moved":
                        successor = frame["conversation_id"]
                    elif frame["type"] == "said" or frame["seq"] > self._seq:
                        await self._tell(frame)
            if successor:
                await self._follow(successor)

    async def _read(self) -> None:
        while True:
            try:
                text = await self._socket.receive_text()
            except KeyError:  # a binary message
                await self._fail("invalid_argument", "frame: send JSON as a text message, not a binary one")
                continue
            try:
                frame = CLIENT_FRAMES.validate_json(text)
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                field = ".".join(str(part) for part in first["loc"]) or "frame"
                await self._fail("invalid_argument", f"{field}: {first['msg']}")
                continue
            match frame:
                case MessageFrame():
                    await self._message(frame)
                case CancelFrame():
                    await self._cancel()
                case ApproveFrame():
                    await self._approve(frame)
                case PingFrame():
                    await self._send({"type": "pong"})
                case DisconnectFrame():
                    await self._socket.close(1000)
                    return

    async def _message(self, frame: MessageFrame) -> None:
        try:
            await self._authenticator.principal(self._socket)  # a key that was revoked meanwhile says nothing more
            accepted = await self._chat.say(frame, self._principal)
        except Problem as problem:
            await self._fail(problem.code, problem.message)
        except Closed as closed:
            await self._fail(closed.code, str(closed))
        except (StorageFailed, ProviderFailed) as failure:
            await self._fail(failure.code, failure.message)
        else:
            await self._send({"type": "accepted", "id": frame.id, "event_id": accepted.event_id})
            if accepted.duplicate:
                return
            if accepted.conversation_id != self._chat.conversation_id:
                await self._follow(accepted.conversation_id)
            self._feed.said(accepted.conversation_id, said_frame(accepted.event_id, _said(frame), frame.id))

    async def _approve(self, frame: ApproveFrame) -> None:
        """Whoever decides in a chat decides about what was asked there."""
        try:
            principal = await self._authenticator.principal(self._socket)
            decider = Decider(principal.party, principal.may("operator"), principal.owner)
            await self._approvals.decide(
                frame.approval_id, frame.decision, decider, frame.reason, conversation_id=self._chat.conversation_id
            )
        except Problem as problem:
            await self._fail(problem.code, problem.message)
        except (Refused, StorageFailed) as failure:
            await self._fail(failure.code, failure.message)

    async def _cancel(self) -> None:
        """The socket goes on while the run comes to its end."""
        session = self._runs.active(self._chat.conversation_id)
        if session is None:
            await self._fail("conflict", "no run is active in this session")
            return
        task = asyncio.create_task(self._end(session.run_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _end(self, run_id: str) -> None:
        try:
            await self._runs.cancel(run_id, CANCELLED)
        except (Refused, StorageFailed) as failure:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await self._fail(failure.code, failure.message)

    async def _fail(self, code: str, message: str) -> None:
        told = translate(message, matched(self._chat.locale) or DEFAULT_LANGUAGE)
        await self._send({"type": "error", "code": code, "message": told})

    async def _send(self, frame: dict[str, Any]) -> None:
        """A frame without a number of its own carries that of the last one, to resume after."""
        self._seq = max(self._seq, frame.get("seq", 0))
        self._blocked_since = self._blocked_since or self._loop.time()
        await self._socket.send_text(to_json({**frame, "seq": self._seq}).decode())
        self._blocked_since = 0.0


def _said(frame: MessageFrame) -> dict[str, Any]:
    """As the other tabs of the session see it."""
    contents = [element.model_dump(mode="json", exclude_none=True) for element in frame.contents]
    return {"text": frame.text, "contents": contents}
