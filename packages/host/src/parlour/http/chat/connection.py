"""Serves one chat socket: sends missed frames, then new ones; receives messages, cancellations and decisions."""

import asyncio
import contextlib
from collections import deque
from dataclasses import replace
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError
from pydantic_core import to_json

from parlour.core.approvals.decisions import Decider
from parlour.core.approvals.service import ApprovalService
from parlour.core.delivery.feed import Feed, FeedSubscription, Frame
from parlour.core.errors import CallRejected
from parlour.core.ingest.arrivals import HostStopping
from parlour.core.journal import StorageFailed
from parlour.core.model.ids import NO_CONVERSATION, ConversationId, EventId, RunId
from parlour.core.model.providers import ProviderFailed
from parlour.core.runs.control import RunControl
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, match_language
from parlour.core.texts.translation import translate

from ..errors import Problem
from ..principals import Authenticator
from ..runs.endpoints import CANCELLED
from ..socket_control import SOCKET_EXTENSION, SocketControl
from .frames import CLIENT_FRAMES, ApproveFrame, CancelFrame, DisconnectFrame, MessageFrame, PingFrame
from .missed_frames import MissedFrames
from .session import ChatSession
from .user_messages import MAX_MISSED_MESSAGES, user_message_frame

TOO_SLOW_CLOSE_CODE = 1013
TOO_SLOW_REASON = "too slow; connect again with after"
DEPARTED_CLOSE_CODE = 1012
DEPARTED_REASON = "another Host answers now; connect again with after"


class ChatConnection:
    def __init__(
        self,
        socket: WebSocket,
        chat: ChatSession,
        authenticator: Authenticator,
        feed: Feed,
        missed: MissedFrames,
        runs: RunControl,
        approvals: ApprovalService,
    ) -> None:
        self._socket = socket
        self._chat = chat
        self._authenticator = authenticator
        self._feed = feed
        self._missed = missed
        self._runs = runs
        self._approvals = approvals
        self._cancelling: set[asyncio.Task[None]] = set()
        self.agent_id, self.session, self.owner = chat.agent_id, chat.name, chat.principal.owner
        self._seq = 0
        self._wants_user_messages = False
        self._forwarded_event_ids: deque[EventId] = deque(maxlen=2 * MAX_MISSED_MESSAGES)
        """Ids of events whose user message was forwarded already, so that each is sent once."""
        self._wake = asyncio.Event()
        self._feed_lock = asyncio.Lock()
        """Lock around sending frames from the feed, so that none is sent out of order when the session switches to a
        new conversation."""
        self._subscription: FeedSubscription
        self._control: SocketControl = socket.scope["extensions"][SOCKET_EXTENSION]
        self._loop = asyncio.get_running_loop()
        self._blocked_since = 0.0
        """Loop time at which sending of the frame began that the client has not read yet; 0 if there is none."""

    async def serve(self, after: int | None, wants_user_messages: bool) -> None:
        """Runs the connection until either side closes it.

        `after` is the `seq` to resume from; with `wants_user_messages` the client gets frames for users' messages.
        """
        self._wants_user_messages = wants_user_messages
        self._subscription = self._subscribe()
        try:
            await self._send_initial(after)
            writer = asyncio.create_task(self._write())
            try:
                await self._read()
            finally:
                writer.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await writer
        except (WebSocketDisconnect, RuntimeError):
            pass  # the client disconnected; it can fetch missed frames later
        finally:
            self._feed.unsubscribe(self._chat.conversation_id, self._subscription)

    def enqueue(self, frame: Frame) -> None:
        self._subscription.put(frame)

    def blocked_seconds(self) -> float:
        return self._loop.time() - self._blocked_since if self._blocked_since else 0.0

    def close_unresponsive(self) -> None:
        self._blocked_since = 0.0  # avoids closing it twice
        self._control.close_unresponsive(TOO_SLOW_CLOSE_CODE, TOO_SLOW_REASON)

    def _subscribe(self) -> FeedSubscription:
        subscription = self._feed.subscribe(self._chat.conversation_id)
        subscription.on_frame(self._wake.set)
        return subscription

    async def _switch_conversation(self, conversation_id: ConversationId) -> None:
        """Switches to the new conversation of a session that was reset."""
        async with self._feed_lock:
            if conversation_id == self._chat.conversation_id:
                return
            self._feed.unsubscribe(self._chat.conversation_id, self._subscription)
            self._chat = replace(self._chat, conversation_id=conversation_id)
            self._subscription = self._subscribe()
            await self._send_initial(self._seq)
        self._wake.set()

    async def _send_initial(self, after: int | None) -> None:
        """Sends the connected frame, missed frames and the output in progress.

        The subscription exists before missed frames are read, so no frame falls between the two.
        """
        conversation_id = self._chat.conversation_id
        self._seq = await self._missed.last_seq(conversation_id) if after is None else after
        await self._send(
            {
                "type": "connected",
                "session": self._chat.name,
                "agent_id": self._chat.agent_id,
                "conversation_id": conversation_id,
            }
        )
        if after is not None:
            await self._send_missed()
        live = self._feed.active_run(conversation_id)
        for frame in live.frames_after(self._seq if after is not None else live.started - 1) if live else ():
            await self._send(frame)

    async def _send_missed(self) -> None:
        """Sends users' messages, replies and ends of runs since the last `seq`, in their order."""
        event_prefix = self._chat.event_prefix if self._wants_user_messages else None
        missed = self._missed.read_after(self._chat.conversation_id, self._seq, event_prefix)
        async with contextlib.aclosing(missed) as frames:
            async for frame in frames:
                await self._forward(frame)

    async def _forward(self, frame: Frame) -> None:
        """Sends a frame; a user message only to clients that asked for those, and once.

        User messages are deduplicated by event id and not by `seq`, because a reply may have been assigned its number
        before the user message and be sent after it.
        """
        if frame["type"] != "said":
            await self._send(frame)
        elif self._wants_user_messages and frame["event_id"] not in self._forwarded_event_ids:
            self._forwarded_event_ids.append(frame["event_id"])
            await self._send({name: value for name, value in frame.items() if name != "seq"})

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if self._subscription.overrun:
                self._blocked_since = self._blocked_since or self._loop.time()
                await self._socket.close(TOO_SLOW_CLOSE_CODE, TOO_SLOW_REASON)
                return
            successor = NO_CONVERSATION
            async with self._feed_lock:
                for frame in self._subscription.drain():
                    if frame["type"] == "departed":
                        await self._socket.close(DEPARTED_CLOSE_CODE, DEPARTED_REASON)
                        return
                    if frame["type"] == "moved":
                        successor = frame["conversation_id"]
                    elif frame["type"] == "said" or frame["seq"] > self._seq:
                        await self._forward(frame)
            if successor:
                await self._switch_conversation(successor)

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
                first_error = error.errors(include_url=False, include_input=False)[0]
                field = ".".join(str(part) for part in first_error["loc"]) or "frame"
                await self._fail("invalid_argument", f"{field}: {first_error['msg']}")
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
            await self._authenticator.authenticate(self._socket)  # the key may have been revoked since
            receipt = await self._chat.send(frame)
        except Problem as problem:
            await self._fail(problem.code, problem.message)
        except HostStopping as closed:
            await self._fail(closed.code, str(closed))
        except (StorageFailed, ProviderFailed) as failure:
            await self._fail(failure.code, failure.message)
        else:
            await self._send({"type": "accepted", "id": frame.id, "event_id": receipt.event_id})
            if receipt.duplicate:
                return
            if receipt.conversation_id != self._chat.conversation_id:
                await self._switch_conversation(receipt.conversation_id)
            self._feed.publish_user_message(
                receipt.conversation_id, user_message_frame(receipt.event_id, _user_message(frame), frame.id)
            )

    async def _approve(self, frame: ApproveFrame) -> None:
        """Decides an approval; only one that was requested in this conversation."""
        try:
            principal = await self._authenticator.authenticate(self._socket)
            decider = Decider(principal.participant, principal.may("operator"), principal.owner)
            await self._approvals.decide(
                frame.approval_id, frame.decision, decider, frame.reason, conversation_id=self._chat.conversation_id
            )
        except Problem as problem:
            await self._fail(problem.code, problem.message)
        except (CallRejected, StorageFailed) as failure:
            await self._fail(failure.code, failure.message)

    async def _cancel(self) -> None:
        """Cancels the active run in the background, so that the socket stays responsive while the run ends."""
        session = self._runs.find_active(self._chat.conversation_id)
        if session is None:
            await self._fail("conflict", "no run is active in this session")
            return
        task = asyncio.create_task(self._cancel_run(session.run_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def _cancel_run(self, run_id: RunId) -> None:
        try:
            await self._runs.cancel(run_id, CANCELLED)
        except (CallRejected, StorageFailed) as failure:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                await self._fail(failure.code, failure.message)

    async def _fail(self, code: str, message: str) -> None:
        localized = translate(message, match_language(self._chat.locale) or DEFAULT_LANGUAGE)
        await self._send({"type": "error", "code": code, "message": localized})

    async def _send(self, frame: dict[str, Any]) -> None:
        """Sends a frame. One without its own number carries the last one, so that the client can resume after it."""
        self._seq = max(self._seq, frame.get("seq", 0))
        self._blocked_since = self._blocked_since or self._loop.time()
        await self._socket.send_text(to_json({**frame, "seq": self._seq}).decode())
        self._blocked_since = 0.0


def _user_message(frame: MessageFrame) -> dict[str, Any]:
    """Returns the message as it is sent to the other tabs of the session."""
    contents = [element.model_dump(mode="json", exclude_none=True) for element in frame.contents]
    return {"text": frame.text, "contents": contents}
