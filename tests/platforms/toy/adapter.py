"""The adapter of a toy platform: texts over HTTP, events over a WebSocket that gets an acknowledgement for each."""

import asyncio
import json
from typing import Any

from aiohttp import ClientError, ClientSession, WSMsgType

from parlour.core.backoff import Backoff
from parlour.core.platforms.api import PlatformApi
from parlour.core.platforms.manifest import AdapterManifest, ComponentKinds, Mode
from parlour.core.platforms.port import HostLink, IncomingEvent, PlatformRefused, PlatformUncertain
from parlour.testing.platform_surface import APIS, COMPONENTS, EVENTS
from parlour_sdk.protocol.chain import MessageChain, Plain, Source, Unknown, chain_text
from parlour_sdk.protocol.people import ChatType, User
from parlour_sdk.protocol.platform_api import MessageResult
from parlour_sdk.protocol.platform_events import MessageReceived, PlatformSpecific

REASON = "The toy carries texts only."
RECEIVED, SENT = ["Source", "Plain", "Unknown"], ["Plain", "Unknown"]
CALLS, REPORTED = ["send_message", "reply_message"], ["message.received", "platform.toy.*"]
MANIFEST = AdapterManifest(
    name="toy",
    label={"en_US": "Toy"},
    description={"en_US": "Texts only"},
    modes={"socket": Mode(label={"en_US": "WebSocket"})},
    supported_events=REPORTED,
    supported_apis=CALLS,
    components=ComponentKinds(receive=RECEIVED, send=SENT),
    not_supported={
        **{name: REASON for name in (*EVENTS, *APIS) if name not in (*REPORTED, *CALLS)},
        **{f"receive {name}": REASON for name in COMPONENTS if name not in RECEIVED},
        **{f"send {name}": REASON for name in COMPONENTS if name not in SENT},
    },
)


class ToyApi(PlatformApi):
    def __init__(self, config: Any) -> None:
        self._config = config

    async def send_message(
        self,
        target_type: ChatType,
        target_id: str,
        chain: MessageChain,
        idempotency_key: str | None = None,
        thread_id: str = "",
    ) -> MessageResult:
        headers = {"Authorization": self._config["token"]}
        body = {"chat": target_id, "text": chain_text(chain)}
        try:
            async with (
                ClientSession(headers=headers) as session,
                session.post(f"{self._config['url']}/send", json=body) as response,
            ):
                answer, status = await response.json(), response.status
        except (ClientError, TimeoutError) as error:
            raise PlatformUncertain(str(error)) from None
        if status != 200:
            raise PlatformRefused(answer["error"], answer.get("retry_after"), permanent=status != 429)
        return MessageResult(message_id=answer["id"])


class ToyAdapter:
    def __init__(self, link: HostLink, backoff: Backoff) -> None:
        self._link = link
        self._backoff = backoff

    def api(self, account: str = "") -> ToyApi:
        return ToyApi(self._link.config)

    async def serve(self) -> None:
        while True:
            try:
                await self._receive()
                error = "the connection ended"
            except (ClientError, OSError) as raised:
                error = f"the toy platform can't be reached: {type(raised).__name__}"
            self._link.report_status("connecting", error)
            await asyncio.sleep(self._backoff.next_delay())

    async def _receive(self) -> None:
        headers = {"Authorization": str(self._link.config["token"])}
        async with (
            ClientSession(headers=headers) as session,
            session.ws_connect(f"{self._link.config['url']}/events") as socket,
        ):
            self._backoff.reset()
            self._link.report_status("connected")
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    incoming, number = _decode(message.data)
                    if incoming is not None:
                        await self._link.receive(incoming)
                    await socket.send_str(json.dumps({"ack": number}))


def _decode(frame: str) -> tuple[IncomingEvent | None, Any]:
    native = json.loads(frame)
    number = native.get("number")
    match native:
        case {"id": str(message_id), "chat": str(chat), "user": str(user), "text": str(text), "time": int(time)}:
            if user == "bot":
                return None, number
            chain: MessageChain = [Source(id=message_id, time=time), Plain(text=text) if text else Unknown(text="[?]")]
            event = MessageReceived(
                event_id=message_id, timestamp=time, adapter_name="toy", message_id=message_id, message_chain=chain,
                sender=User(id=user), chat_type="private", chat_id=chat,
            )  # fmt: skip
            return IncomingEvent(event, self_id="bot"), number
    odd = PlatformSpecific(
        type="platform.toy.malformed", event_id=f"odd-{number}", timestamp=0, adapter_name="toy", action="malformed",
        data={"frame": frame[:200]},
    )  # fmt: skip
    return IncomingEvent(odd), number
