"""Gives files addresses at which a platform can fetch them, for platforms without uploads.

An address is the bot's own hook with a signature, which cannot be guessed and expires. It works only if the platform
can reach the Host under `http.public_url` or the address in the bot's configuration.
"""

import hashlib
import hmac
from collections.abc import Callable
from time import time
from urllib.parse import urlencode

from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.core.platforms.port import FileUnavailable, HostLink

from .bounded_map import BoundedMap
from .outgoing_files import OutgoingFile

LIFETIME_SECONDS = 7 * 24 * 3600
MAX_KEPT_BYTES = 64 * 1024 * 1024
"""Maximum size of all contents that have no artifact; older ones are forgotten."""
SERVED_TYPES = (
    "image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "audio/mpeg", "audio/mp4", "audio/ogg",
)  # fmt: skip
"""Types that are served. Others, such as HTML, could run as a page of the Host."""
FILE_FIELD = "file"


class PublicFiles:
    """Signs and serves the addresses of one bot's files."""

    def __init__(self, link: HostLink, secret: str, base_url: str = "", clock: Callable[[], float] = time) -> None:
        self._link = link
        self._key = hashlib.sha256(b"files of a bot\0" + secret.encode()).digest()
        self._base = (base_url or link.public_url).rstrip("/")
        self._clock = clock
        self._kept: BoundedMap[str, OutgoingFile] = BoundedMap()

    @property
    def base_url(self) -> str:
        """The address of the Host; empty if it has none that platforms reach."""
        return self._base

    def address(self, file: OutgoingFile, artifact_id: str = "") -> str:
        """Returns the address of a file. One without an artifact is kept in memory, so that a restart forgets it."""
        name = artifact_id or f"kept-{hashlib.sha256(file.data).hexdigest()[:32]}"
        if not artifact_id:
            self._keep(name, file)
        until = str(round(self._clock()) + LIFETIME_SECONDS)
        query = urlencode({FILE_FIELD: name, "until": until, "signature": self._sign(name, until)})
        return f"{self._base}/hooks/{self._link.bot_id}?{query}"

    async def serve(self, call: HookCall) -> HookResponse | None:
        """Answers the request of a file; None if the call is about something else."""
        name, until = call.query.get(FILE_FIELD, ""), call.query.get("until", "")
        if call.method != "GET" or not name:
            return None
        given = call.query.get("signature", "").encode(errors="replace")
        if not hmac.compare_digest(given, self._sign(name, until).encode()):
            return HookResponse(403, "the signature is wrong")
        if int(until) < self._clock():
            return HookResponse(410, "the address has expired")
        return await self._content(name)

    async def _content(self, name: str) -> HookResponse:
        kept = self._kept.get(name)
        if kept is not None:
            data, mime_type = kept.data, kept.mime_type
        else:
            try:
                content = await self._link.content(name)
            except FileUnavailable as missing:
                return HookResponse(503 if missing.retryable else 404, missing.message)
            data, mime_type = content.data, content.mime_type
        if mime_type not in SERVED_TYPES:
            return HookResponse(415, "files of this type are not served")
        return HookResponse(200, content_type=mime_type, content=data)

    def _keep(self, name: str, file: OutgoingFile) -> None:
        self._kept.set(name, file)
        while sum(len(each.data) for each in self._kept.values()) > MAX_KEPT_BYTES and len(self._kept) > 1:
            self._kept.pop_oldest()

    def _sign(self, name: str, until: str) -> str:
        return hmac.new(self._key, f"{name}\0{until}".encode(errors="replace"), "sha256").hexdigest()
