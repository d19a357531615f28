"""Tests that wechatpy, unmodified, plays both sides of an official account: WeChat for the adapter, and an account for
the simulator.
"""

import asyncio
import base64
import time
from typing import Any

import pytest

from parlour.core.backoff import Backoff
from parlour.core.model.ids import EventId
from parlour.core.model.reply_allowance import ReplyHandle
from parlour.core.platforms.hooks import HookCall
from parlour.platforms._kit.encrypted_callbacks import read_xml
from parlour.platforms.officialaccount.adapter import OfficialAccountAdapter
from parlour.testing.errcode_simulator import SentCall, xml_of
from parlour.testing.memory_link import MemoryLink
from parlour.testing.officialaccount_simulator import OfficialAccountSimulator
from parlour.testing.officialaccount_simulator.simulator import ACCOUNT, APP_ID, APP_SECRET
from parlour_sdk.protocol.chain import Image, Plain
from tests.platforms.wecom.peer import WechatpyPeer

pytestmark = pytest.mark.long
ANN = "oAnn"
PICTURE = Image(base64=base64.b64encode(b"hello").decode(), name="a.png", mime_type="image/png")


def secrets(simulator: OfficialAccountSimulator) -> dict[str, str]:
    return {
        "kind": "official", "token": simulator.secrets.token, "key": simulator.secrets.encoding_aes_key,
        "receiver": APP_ID, "nonce": "nonce", "timestamp": str(int(time.time())),
    }  # fmt: skip


def query_of(simulator: OfficialAccountSimulator, outer: dict[str, str]) -> dict[str, str]:
    timestamp, nonce = outer["TimeStamp"], outer["Nonce"]
    signature = simulator.calls.crypto.signature(timestamp, nonce)
    return {
        "signature": signature, "timestamp": timestamp, "nonce": nonce, "encrypt_type": "aes",
        "msg_signature": outer["MsgSignature"],
    }  # fmt: skip


@pytest.mark.parametrize(("component", "kind"), [(Plain(text="grüße & <b> 👋"), "text"), (PICTURE, "image")])
async def test_wechatpy_calls_the_adapter_and_reads_its_reply(component: Any, kind: str) -> None:
    simulator = OfficialAccountSimulator()
    async with WechatpyPeer.running() as peer, simulator.listening() as url:
        fields = secrets(simulator)
        config = {"app_id": APP_ID, "app_secret": APP_SECRET, "api_base_url": url, "mode": "passive"}
        link = MemoryLink({**config, "token": fields["token"], "encoding_aes_key": fields["key"]})
        adapter = OfficialAccountAdapter(link, Backoff(0.01))
        work = asyncio.create_task(adapter.serve())
        await link.until(lambda: link.now[0] == "connected")
        message = simulator.message(ANN, "text", Content="你好 <b> &")
        xml = (await peer.ask("encrypt", **fields, content=xml_of(message)))["xml"]
        call = HookCall(xml.encode(), query=query_of(simulator, read_xml(xml.encode())))
        answering = asyncio.ensure_future(adapter.hook(call))
        [incoming] = await link.events(1)
        assert incoming.event.message_chain[1].text == "你好 <b> &"  # type: ignore[attr-defined]
        assert incoming.reply_allowance is not None
        handle = ReplyHandle(incoming.reply_allowance.handle, 1, EventId("e"))
        await adapter.api().send_reply(handle, "private", ANN, [component], "k")
        answer = (await answering).text
        outer = read_xml(answer.encode())
        read = await peer.ask(
            "read_reply", **{**fields, "timestamp": outer["TimeStamp"]}, xml=answer, signature=outer["MsgSignature"]
        )
        work.cancel()
    assert (read["type"], read["source"], read["target"]) == (kind, ACCOUNT, ANN)
    assert read["text"] == ("grüße & <b> 👋" if kind == "text" else next(iter(simulator.media)))


async def test_wechatpy_reads_the_calls_of_the_simulator_and_its_reply_is_accepted() -> None:
    simulator = OfficialAccountSimulator()
    async with WechatpyPeer.running() as peer:
        fields, crypto = secrets(simulator), simulator.calls.crypto
        for message in (
            simulator.message(ANN, "text", Content="grüße 👋"),
            simulator.message(ANN, "voice", MediaId="V", Format="amr", Recognition="hello"),
            simulator.message(ANN, "location", Location_X="31.2", Location_Y="121.5", Scale="16", Label="x"),
            simulator.event(ANN, "subscribe", EventKey="qrscene_1", Ticket="t"),
            simulator.event(ANN, "CLICK", EventKey="today"),
        ):
            encrypted = crypto.encrypt(xml_of(message))
            body = simulator.calls.body(encrypted, "")
            signature = crypto.signature(fields["timestamp"], "nonce", encrypted)
            read = await peer.ask("decrypt", **fields, xml=body, signature=signature)
            is_event = message["MsgType"] == "event"
            assert (read["type"], read["source"]) == ("event" if is_event else message["MsgType"], ANN)
            reply = (await peer.ask("reply", **fields, content="ok & <b>", source=ACCOUNT, target=ANN))["xml"]
            simulator.calls.answered(SentCall(xml_of(message)), reply)
    assert simulator.texts(ANN) == ["ok & <b>"] * 5
