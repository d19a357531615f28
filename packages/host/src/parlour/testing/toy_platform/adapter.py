"""The adapter of the toy platform, complete: connection, decoding, encoding and the platform API."""

import hashlib
from typing import Any

from parlour.core.backoff import Backoff
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.port import AdapterFactory, AdapterStopped, HostLink, IncomingEvent, PlatformRefused
from parlour.platforms._kit.close_codes import ClosePolicy
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, check_status
from parlour.platforms._kit.json_frames import FrameUnreadable, read_frame
from parlour.platforms._kit.proxy_fields import configured_proxies
from parlour.platforms._kit.websocket_client import PlatformSocket, PlatformWebSocketClient, SocketAddress
from parlour_sdk.protocol.chain import MessageChain, Plain, Source, Unknown
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.protocol.platform_events import MessageReceived, PlatformEvent, PlatformSpecific

NAME = "toy"
SERVICE = "Toy"
POLICY = ClosePolicy(stop={4004: "token: the toy platform does not know it; copy it again"})


class ToyAdapter:
    """Adapter of one bot. It is also the session of its WebSocket."""

    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        self._link = link
        self._url = str(link.config.get("url") or "").rstrip("/")
        if not self._url.startswith(("http://", "https://")):
            raise AdapterStopped("url: the address of the toy platform is needed, as https://host")
        self._headers = {"Authorization": f"Bearer {link.config.get('token') or ''}"}
        proxies = configured_proxies(link.config)
        self._client = PlatformHttpClient(SERVICE, self._url, proxies)
        self._socket = PlatformWebSocketClient(SERVICE, link, self, proxies, POLICY, backoff)

    async def serve(self) -> None:
        async with self._client.connection():
            await self._socket.serve()

    def api(self, account: str = "") -> "ToyApi":
        return ToyApi(self._client, self._headers)

    async def address(self) -> SocketAddress:
        return SocketAddress(f"ws{self._url.removeprefix('http')}/socket", self._headers)

    async def opened(self, socket: PlatformSocket) -> None:
        self._link.report_status("connected")

    async def received(self, socket: PlatformSocket, frame: str | bytes) -> None:
        try:
            payload = read_frame(frame)
        except FrameUnreadable:
            return
        if payload.get("from") == "bot":
            return
        await self._link.receive(IncomingEvent(decode(payload, self._link.bot_id), self_id="bot"))

    def forget(self) -> None:
        """Does nothing: the toy platform has no sessions to resume."""


def decode(payload: dict[str, Any], bot_id: str) -> PlatformEvent:
    """Converts a payload into an event. One that can't be read becomes `platform.toy.malformed`."""
    fields: dict[str, Any] = {"bot_id": bot_id, "adapter_name": NAME}
    match payload:
        case {"id": str(message_id), "from": str(sender), "chat": str(chat), "text": str(text), "time": int(time)}:
            return MessageReceived(
                event_id=message_id,
                timestamp=time,
                message_id=message_id,
                message_chain=[Source(id=message_id, time=time), Plain(text=text)],
                sender=User(id=sender, nickname=sender),
                chat_type="private",
                chat_id=chat,
                **fields,
            )
    content = repr(sorted(payload.items(), key=str))
    return PlatformSpecific(
        type=f"platform.{NAME}.malformed",
        event_id=hashlib.sha256(content.encode(errors="replace")).hexdigest()[:32],
        timestamp=0,
        action="malformed",
        data={"payload": content[:1000]},
        **fields,
    )


def encode(chain: MessageChain) -> str:
    """Returns the text of a chain; delivery has turned everything else into text before."""
    return "".join(each.text for each in chain if isinstance(each, Plain | Unknown) and each.text)


class ToyApi(PlatformApi):
    """Platform API of one bot."""

    def __init__(self, client: PlatformHttpClient, headers: dict[str, str]) -> None:
        self._client = client
        self._headers = headers

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        if not (text := encode(chain)):
            raise PlatformRefused("there is nothing in this message that the toy platform could send", permanent=True)
        body = {"chat": target_id, "text": text, "key": idempotency_key}
        request = ApiRequest("POST", "/send", "send", json=body, headers=self._headers)
        response = check_status(SERVICE, request, await self._client.send(request), _reason)
        return MessageResult(message_id=str((response.read_object() or {}).get("id") or "") or None)


def _reason(response: ApiResponse) -> str:
    return str((response.read_object() or {}).get("error") or "")


def adapter_factory() -> AdapterFactory:
    return lambda link: ToyAdapter(link, Backoff())
