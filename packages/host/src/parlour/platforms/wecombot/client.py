"""Makes calls over the long connection of an AI bot: each frame has an id, under which WeCom answers it."""

import asyncio
import base64
import hashlib
import os
import time
from typing import Any

from parlour.core.encoding import dumps
from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.payloads import Payload, object_in, text
from parlour.platforms._kit.turns import Turns
from parlour.platforms._kit.websocket_client import PlatformSocket

from .entities import SERVICE

ANSWER_SECONDS = 15.0
CHUNK_BYTES = 512 * 1024
MAX_CHUNKS = 100
BUSY_CODE = -1
RATE_CODES = {45009: 60.0, 45033: 1.0}
"""Seconds to wait after a call that exceeded a limit."""
OFFLINE_RETRY_SECONDS = 1.0


class WecomBotRefused(PlatformRefused):
    """Raised when WeCom rejected a call. `code` is its own number of the reason."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason, permanent=True)
        self.code = code


class WecomBotClient:
    """The calls of one bot over its current connection."""

    def __init__(self) -> None:
        self._socket: PlatformSocket | None = None
        self._answers: dict[str, asyncio.Future[Payload]] = {}
        self._turns = Turns()

    def connected(self, socket: PlatformSocket) -> None:
        self._socket = socket

    def disconnected(self) -> None:
        """Ends the calls that were not answered: whether they took effect is not known."""
        self._socket = None
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(PlatformUncertain(f"the connection to {SERVICE} ended"))

    def answered(self, frame: Payload) -> bool:
        """Takes the answer to a call. Returns False if it belongs to none."""
        answer = self._answers.get(text(object_in(frame, "headers"), "req_id"))
        if answer is None or answer.done():
            return False
        answer.set_result(frame)
        return True

    async def call(self, command: str, body: Payload, request_id: str = "") -> Payload:
        """Makes a call and returns the body of its answer. Calls under one id wait for each other."""
        request_id = request_id or new_request_id(command)
        async with self._turns.turn(request_id):
            return self._read(command, await self._exchange(command, body, request_id))

    async def _exchange(self, command: str, body: Payload, request_id: str) -> Payload:
        socket = self._socket
        if socket is None or socket.is_closed:
            raise PlatformOffline(f"the bot is not connected to {SERVICE}", retry_after=OFFLINE_RETRY_SECONDS)
        answer: asyncio.Future[Payload] = asyncio.get_running_loop().create_future()
        self._answers[request_id] = answer
        try:
            await socket.send(dumps({"cmd": command, "headers": {"req_id": request_id}, "body": body}))
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError:
            raise PlatformUncertain(f"{SERVICE} did not answer {command} in time") from None
        finally:
            del self._answers[request_id]

    def _read(self, command: str, frame: Payload) -> Payload:
        code, reason = frame.get("errcode"), text(frame, "errmsg")
        if code == 0:
            return object_in(frame, "body")
        if not isinstance(code, int):
            raise PlatformUncertain(f"{SERVICE} answered {command} with something that is no answer")
        if code == BUSY_CODE:
            raise PlatformRefused(f"{SERVICE} is busy", retry_after=1.0)
        if code in RATE_CODES:
            raise PlatformRefused(f"{SERVICE} refused {command}: there were too many calls", RATE_CODES[code])
        raise WecomBotRefused(f"{SERVICE} refused {command}: {code} {reason}"[:500], code)

    def seen(self, stream_id: str, sent: str) -> str:
        """Returns the text that was sent, because WeCom shows it at once."""
        return sent

    async def upload(self, file: OutgoingFile, kind: str) -> str:
        """Uploads a file in chunks and returns its media id, which is valid for three days."""
        data = file.data
        chunks = [data[first : first + CHUNK_BYTES] for first in range(0, len(data), CHUNK_BYTES)]
        if not 1 <= len(chunks) <= MAX_CHUNKS:
            raise PlatformRefused(f"{SERVICE} does not take the file {file.name}: it is empty or too large", None, True)
        described: dict[str, Any] = {
            "type": kind, "filename": file.name, "total_size": len(data), "total_chunks": len(chunks),
            "md5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        }  # fmt: skip
        upload_id = text(await self.call("aibot_upload_media_init", described), "upload_id")
        for index, chunk in enumerate(chunks):
            part = {"upload_id": upload_id, "chunk_index": index, "base64_data": base64.b64encode(chunk).decode()}
            await self.call("aibot_upload_media_chunk", part)
        return text(await self.call("aibot_upload_media_finish", {"upload_id": upload_id}), "media_id")


def new_request_id(command: str) -> str:
    """Returns an id for a call. WeCom answers under the same id, which begins with the name of the command."""
    return f"{command}_{round(time.time() * 1000)}_{os.urandom(4).hex()}"
