"""A platform's call reaches the adapter of its bot complete, and gets the response that the adapter chose."""

import httpx
from fastapi import FastAPI

from parlour.core.model.ids import BotId
from parlour.core.platforms.hooks import HookCall, HookResponse
from parlour.http.platform_callbacks.endpoints import router


class RecordingBot:
    """A bot that answers each call with the next response and keeps the calls."""

    def __init__(self, *responses: HookResponse) -> None:
        self._responses = list(responses)
        self.calls: list[HookCall] = []

    async def hook(self, bot_id: BotId, call: HookCall) -> HookResponse | None:
        self.calls.append(call)
        return self._responses.pop(0)


def client(bot: RecordingBot) -> httpx.AsyncClient:
    app = FastAPI()
    app.include_router(router(bot.hook, lambda bot_id: None))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://host")


async def test_the_check_of_an_address_is_a_get_whose_fields_are_decoded_and_whose_answer_is_exact() -> None:
    bot = RecordingBot(HookResponse(text="the challenge"))
    async with client(bot) as http:
        response = await http.get("/hooks/b1?echostr=a%2Bb%3D&timestamp=1&timestamp=2&nonce=%E4%BD%A0")
    [call] = bot.calls
    assert (call.method, call.body) == ("GET", b"")
    assert call.query == {"echostr": "a+b=", "timestamp": "1", "nonce": "你"}
    assert (response.text, response.headers["content-type"]) == ("the challenge", "text/plain; charset=utf-8")


async def test_a_call_has_its_exact_body_headers_and_query_and_gets_a_json_or_xml_response() -> None:
    bot = RecordingBot(
        HookResponse.json({"challenge": "é"}), HookResponse(202, "<xml></xml>", "application/xml; charset=utf-8")
    )
    body = b'{ "a" : 1 }\n'
    async with client(bot) as http:
        first = await http.post("/hooks/b1?msg_signature=s", content=body, headers={"X-Signature": "Given"})
        second = await http.post("/hooks/b1", content=b"")
    assert [(call.method, call.body) for call in bot.calls] == [("POST", body), ("POST", b"")]
    assert bot.calls[0].query == {"msg_signature": "s"}
    assert bot.calls[0].headers["x-signature"] == "Given"
    assert (first.json(), first.headers["content-type"]) == ({"challenge": "é"}, "application/json")
    assert (second.status_code, second.headers["content-type"]) == (202, "application/xml; charset=utf-8")


async def test_other_methods_are_refused() -> None:
    async with client(RecordingBot()) as http:
        assert (await http.put("/hooks/b1")).status_code == 405
