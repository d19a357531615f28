"""Tests that wechatpy, unmodified, understands the adapter's encryption and the simulator, and is understood."""

import json
import random
import re
import time
from collections.abc import AsyncIterator

import pytest

from parlour.core.platforms.hooks import HookCall
from parlour.platforms._kit.encrypted_callbacks import CallbackCipher, read_xml
from parlour.platforms._kit.encrypted_calls import EncryptedCalls
from parlour.platforms._kit.webhooks import WebhookRejected
from parlour.testing.errcode_simulator import CallbackCrypto, CallbackSecrets, xml_of
from parlour.testing.wecom_simulator import WecomSimulator
from parlour.testing.wecom_simulator.simulator import AGENT, CORP, SECRET
from tests.platforms.wecom.peer import WechatpyPeer

pytestmark = pytest.mark.long
SECRETS = CallbackSecrets()
APP = "wx5823bf96d3bd56c7"
DOORS = {"company": CORP, "official": APP}


@pytest.fixture
async def peer() -> AsyncIterator[WechatpyPeer]:
    async with WechatpyPeer.running() as peer:
        yield peer


def fields(kind: str, nonce: str = "nonce") -> dict[str, str]:
    return {
        "kind": kind, "token": SECRETS.token, "key": SECRETS.encoding_aes_key, "receiver": DOORS[kind],
        "nonce": nonce, "timestamp": str(int(time.time())),
    }  # fmt: skip


def door(kind: str) -> EncryptedCalls:
    return EncryptedCalls(CallbackCipher(SECRETS.token, SECRETS.encoding_aes_key, DOORS[kind]))


def call_of(xml: str) -> HookCall:
    outer = read_xml(xml.encode())
    query = {"msg_signature": outer["MsgSignature"], "timestamp": outer["TimeStamp"], "nonce": outer["Nonce"]}
    return HookCall(xml.encode(), query=query)


@pytest.mark.parametrize("kind", DOORS)
async def test_what_wechatpy_encrypts_is_accepted_and_its_mutations_are_refused(peer: WechatpyPeer, kind: str) -> None:
    generator, calls = random.Random(27), door(kind)
    refused = 0
    for number in range(100):
        content = xml_of({"Content": f"你好 {number} <b>" + "x" * generator.randrange(70)})
        xml = (await peer.ask("encrypt", content=content, **fields(kind)))["xml"]
        assert calls.read_message(call_of(xml)).decode() == content
        values = re.findall(r"\[([^\[\]]{5,})\]|<TimeStamp>(\d+)<", xml)
        for _ in range(5):
            value = generator.choice([first or second for first, second in values])
            place = generator.randrange(len(value))
            other = "Z" if value[place] in "Qq" else "Q"  # the case of a signature does not matter
            mutated = call_of(xml.replace(value, value[:place] + other + value[place + 1 :]))
            with pytest.raises(WebhookRejected):
                calls.read_message(mutated)
            refused += 1
    assert refused == 500


@pytest.mark.parametrize("kind", DOORS)
async def test_wechatpy_reads_the_replies_of_the_adapter_and_the_calls_of_the_simulator(
    peer: WechatpyPeer, kind: str
) -> None:
    reported = WecomSimulator().message("ann", "text", Content="grüße 👋")
    message = xml_of({name: value for name, value in reported.items() if kind == "company" or name != "AgentID"})
    crypto = CallbackCrypto(SECRETS.token, SECRETS.encoding_aes_key, DOORS[kind])
    encrypted, moment = crypto.encrypt(message), fields(kind)["timestamp"]
    simulated = xml_of({"Encrypt": encrypted}), crypto.signature(moment, "nonce", encrypted), moment
    reply = read_xml((body := door(kind).xml_reply(message, "nonce").text).encode())
    for xml, signature, timestamp in (simulated, (body, reply["MsgSignature"], reply["TimeStamp"])):
        request = {**fields(kind), "timestamp": timestamp, "signature": signature, "xml": xml}
        answer = await peer.ask("decrypt", **request)
        assert answer == {"type": "text", "id": reported["MsgId"], "text": "grüße 👋", "source": "ann"}
        assert "error" in await peer.ask("decrypt", **{**request, "signature": signature[::-1]})


async def test_wechatpy_and_the_adapter_agree_about_the_calls_for_ai_bots(peer: WechatpyPeer) -> None:
    """They are JSON and name no receiver."""
    request = {**fields("company"), "receiver": ""}
    calls = EncryptedCalls(CallbackCipher(SECRETS.token, SECRETS.encoding_aes_key, ""))
    content = json.dumps({"msgid": "1", "text": {"content": "grüße 👋"}})
    outer = read_xml((await peer.ask("encrypt", content=content, **request))["xml"].encode())
    query = {"msg_signature": outer["MsgSignature"], "timestamp": outer["TimeStamp"], "nonce": outer["Nonce"]}
    call = HookCall(json.dumps({"encrypt": outer["Encrypt"]}).encode(), query=query)
    assert calls.read_message(call).decode() == content
    with pytest.raises(WebhookRejected):
        door("company").read_message(call)

    reply = json.loads(calls.json_reply({"msgtype": "stream"}, "nonce").text)
    named = {"xml": xml_of({"Encrypt": reply["encrypt"]}), "signature": reply["msgsignature"]}
    opened = await peer.ask("read", **{**request, **named, "timestamp": str(reply["timestamp"])})
    assert json.loads(opened["content"]) == {"msgtype": "stream"}


async def test_wechatpy_and_the_adapter_answer_the_check_of_the_address_alike(peer: WechatpyPeer) -> None:
    crypto = CallbackCrypto(SECRETS.token, SECRETS.encoding_aes_key, CORP)
    for number in range(20):
        echo, request = f"echo {number}", fields("company")
        encrypted = crypto.encrypt(echo)
        signature = crypto.signature(request["timestamp"], request["nonce"], encrypted)
        assert await peer.ask("echo", **request, signature=signature, echostr=encrypted) == {"echo": echo}
        query = {"msg_signature": signature, "echostr": encrypted, **request}
        assert door("company").answer_check(HookCall(b"", query=query, method="GET")).text == echo


async def test_the_client_of_wechatpy_works_with_the_simulator(peer: WechatpyPeer) -> None:
    simulator = WecomSimulator()
    simulator.add_member("ann", "Ann")
    async with simulator.listening() as url:
        token = simulator.issue_token("app")["access_token"]
        client = {"address": url, "corp": CORP, "secret": SECRET, "agent": AGENT}
        answer = await peer.ask("send", **client, access_token=token, user="ann", content="grüße 👋")
        assert (answer["user"]["name"], answer["sent"]["errcode"]) == ("Ann", 0)
        refused = [
            await peer.ask("send", **client, access_token=token, user="ann", content="x" * 2049),
            await peer.ask("send", **{**client, "agent": 1}, access_token=token, user="ann", content="x"),
        ]
    assert [each["error"] for each in refused] == [45002, 301002]
    assert [each.kind for each in simulator.sent()] == ["text", "file"]
