"""The HTTP API of the simulated WeCom and WeChat: access tokens, media, and answers with an `errcode`."""

import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

from aiohttp import web

from parlour.testing.simulator import Outcome, PlatformSimulator, RateWindows, SimulatorFaults, SimulatorServer
from parlour.testing.simulator.base import SentMessage
from parlour.testing.simulator.server import answer_call

Json = dict[str, Any]
Message = TypeVar("Message", bound=SentMessage)
TOKEN_SECONDS = 7200
MIB = 1024 * 1024
MEDIA_LIMITS = {"image": 10 * MIB, "voice": 2 * MIB, "video": 10 * MIB, "file": 20 * MIB, "thumb": 64 * 1024}
MEDIA_ENDINGS = {"image": ("jpg", "jpeg", "png"), "voice": ("amr",), "video": ("mp4",), "thumb": ("jpg",)}
MIN_MEDIA_BYTES = 5


class ErrcodeRefusal(Exception):
    """An answer with an error code."""

    def __init__(self, code: int, message: str = "", retry_after: float | None = None) -> None:
        super().__init__(f"{code} {message}")
        self.code = code
        self.message = message
        self.retry_after = retry_after


@dataclass
class ErrcodeFaults(SimulatorFaults[ErrcodeRefusal]):
    """The faults of a simulated platform."""

    def refuse(self, call: str, code: int, message: str = "refused", times: int = 1) -> None:
        self.refuse_with(call, ErrcodeRefusal(code, message), times)

    def too_many(self, call: str, seconds: float) -> None:
        self.refuse_with(call, ErrcodeRefusal(45009, "api freq out of limit", seconds))


class ErrcodeSimulator(PlatformSimulator[Message, ErrcodeRefusal]):
    """Subclasses add their calls as methods `call_{name}`, in which slashes of the path are underscores."""

    media_kinds: tuple[str, ...] = ("image", "voice", "video", "file")
    media_endings: ClassVar[Mapping[str, tuple[str, ...]]] = MEDIA_ENDINGS
    address_refusal = (60020, "not allow to access from your ip, hint: [17], from ip: 203.0.113.7, more info")

    def __init__(self, sent: list[Message]) -> None:
        self.faults = ErrcodeFaults()
        super().__init__(self.faults, sent)
        self.server = SimulatorServer()
        self.rates = RateWindows()
        self.made: list[str] = []
        """The names of all calls, in order."""
        self.tokens: dict[str, float] = {}
        """Valid tokens with the end of their life."""
        self.token_seconds = TOKEN_SECONDS
        self.media: dict[str, tuple[str, str, bytes]] = {}
        """Kind, name and content by media id."""
        self.allowed_address = True
        """False if the bot's address is not on the allowlist."""
        self._numbers = itertools.count(1)
        for verb in ("GET", "POST"):
            self.server.route(verb, "/cgi-bin/{path:.*}", self._serve_call)

    @asynccontextmanager
    async def listening(self, port: int = 0) -> AsyncIterator[str]:
        """Yields the address of the API."""
        async with self.server.listening(port) as address:
            try:
                yield f"{address}/cgi-bin"
            finally:
                await self.end_tasks()

    def next_number(self) -> int:
        return next(self._numbers)

    def issue_token(self, owner: str) -> Json:
        """Returns the valid token of an owner, or a new one."""
        now = time.monotonic()
        known = next((each for each, until in self.tokens.items() if each.startswith(owner) and until > now), None)
        token = known or f"{owner}-access-token-{self.next_number()}"
        self.tokens.setdefault(token, now + self.token_seconds)
        return {"access_token": token, "expires_in": round(self.tokens[token] - now)}

    def expire_tokens(self) -> None:
        self.tokens.clear()

    async def _serve_call(self, request: web.Request) -> web.Response:
        path = request.match_info["path"]
        self.made.append(path)

        async def act() -> Any:
            handler: Callable[[web.Request], Awaitable[Any]] | None = getattr(
                self, f"call_{path.replace('/', '_')}", None
            )
            if handler is None:
                raise ErrcodeRefusal(40066, "invalid url")
            if path not in self.open_calls():
                self._authorize(request)
            return await handler(request)

        outcome = await self.perform(path, act, ErrcodeRefusal)
        return await answer_call(request, outcome, _answer, self.notify)

    def open_calls(self) -> tuple[str, ...]:
        """Returns the calls that need no token."""
        raise NotImplementedError

    def _authorize(self, request: web.Request) -> None:
        token = request.query.get("access_token", "")
        if not token:
            raise ErrcodeRefusal(41001, "access_token missing")
        if token not in self.tokens:
            raise ErrcodeRefusal(40014, "invalid access_token")
        if self.tokens[token] <= time.monotonic():
            raise ErrcodeRefusal(42001, "access_token expired")
        if not self.allowed_address:
            raise ErrcodeRefusal(*self.address_refusal)

    # --- media

    def add_media(self, kind: str, name: str, data: bytes, media_id: str = "") -> str:
        media_id = media_id or f"media-{self.next_number()}"
        self.media[media_id] = (kind, name, data)
        return media_id

    async def call_media_upload(self, request: web.Request) -> Json:
        kind = request.query.get("type", "")
        if kind not in self.media_kinds:
            raise ErrcodeRefusal(40004, "invalid media type")
        field = (await request.post()).get("media")
        if not isinstance(field, web.FileField) or not field.filename:
            raise ErrcodeRefusal(44001, "empty media data")
        data = field.file.read()
        ending = field.filename.rpartition(".")[2].lower()
        if len(data) < MIN_MEDIA_BYTES:
            raise ErrcodeRefusal(40006, "invalid file size: too small")
        if len(data) > MEDIA_LIMITS[kind]:
            raise ErrcodeRefusal(40009, "invalid image size" if kind == "image" else "invalid file size")
        if kind in self.media_endings and ending not in self.media_endings[kind]:
            raise ErrcodeRefusal(40005, "invalid file type")
        media_id = self.add_media(kind, field.filename, data)
        return {"type": kind, "media_id": media_id, "created_at": str(int(time.time()))}

    async def call_media_get(self, request: web.Request) -> web.Response:
        kind, name, data = self.find_media(request.query.get("media_id", ""))
        types = {
            "image": "image/png" if name.endswith("png") else "image/jpeg",
            "voice": "audio/amr",
            "video": "video/mp4",
        }
        disposition = f"attachment; filename*=UTF-8''{quote(name)}"
        return web.Response(
            body=data,
            content_type=types.get(kind, "application/octet-stream"),
            headers={"Content-Disposition": disposition},
        )

    def find_media(self, media_id: Any) -> tuple[str, str, bytes]:
        if media_id not in self.media:
            raise ErrcodeRefusal(40007, "invalid media_id")
        return self.media[media_id]


def _answer(outcome: Outcome[ErrcodeRefusal]) -> web.Response:
    refusal = outcome.refusal
    if refusal is not None:
        headers = {"Retry-After": f"{refusal.retry_after:g}"} if refusal.retry_after is not None else {}
        return web.json_response({"errcode": refusal.code, "errmsg": refusal.message}, headers=headers)
    if isinstance(outcome.result, web.Response):
        return outcome.result
    return web.json_response({"errcode": 0, "errmsg": "ok", **(outcome.result or {})})
