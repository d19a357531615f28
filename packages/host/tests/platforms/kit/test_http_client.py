"""The HTTP client maps every outcome to an error of the port, and its messages contain no secret."""

import asyncio
import json

import pytest
from aiohttp import web

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.network.proxies import ProxySettings
from parlour.platforms._kit.http_client import ApiRequest, ApiResponse, PlatformHttpClient, Upload, check_status
from parlour.testing.network import free_port

from .http_service import Handler, running_service

SECRET = "s3cr3t-token"
DIRECT = ProxySettings()


async def exchange(handler: Handler, request: ApiRequest) -> ApiResponse:
    async with running_service(handler) as port:
        client = PlatformHttpClient("Chat", f"http://127.0.0.1:{port}/", DIRECT)
        async with client.connection():
            return await client.send(request)


async def echo(request: web.Request) -> web.Response:
    text = (await request.read()).decode()
    return web.json_response(
        {"method": request.method, "path": request.raw_path, "type": request.content_type, "text": text}
    )


async def test_json_is_sent_unescaped_and_the_path_stays_as_it_is() -> None:
    answer = (await exchange(echo, ApiRequest("POST", "/rooms/%21a%2Fb", "send", json={"a": "你"}))).read_object()
    assert answer == {"method": "POST", "path": "/rooms/%21a%2Fb", "type": "application/json", "text": '{"a":"你"}'}


async def test_a_form_and_a_query_are_encoded() -> None:
    request = ApiRequest("POST", "/x", "send", form={"a": "b c", "n": 5}, query={"q": "ä"})
    answer = (await exchange(echo, request)).read_object()
    assert answer is not None
    assert (answer["path"], answer["text"]) == ("/x?q=%C3%A4", "a=b+c&n=5")


async def test_files_are_sent_as_parts_with_their_names() -> None:
    async def read(request: web.Request) -> web.Response:
        fields = await request.post()
        file = fields["photo"]
        assert isinstance(file, web.FileField)
        return web.json_response([fields["caption"], file.filename, file.content_type, file.file.read().decode()])

    request = ApiRequest(
        "POST", "/", "send", form={"caption": "hi"}, uploads=[Upload("photo", b"x", "猫.png", "image/png")]
    )
    assert json.loads((await exchange(read, request)).body) == ["hi", "猫.png", "image/png", "x"]


async def test_a_body_that_is_too_large_is_refused() -> None:
    async def large(request: web.Request) -> web.Response:
        return web.Response(body=b"x" * 2000)

    with pytest.raises(PlatformRefused) as refusal:
        await exchange(large, ApiRequest("GET", "/", "file", max_bytes=1000))
    assert refusal.value.permanent


async def test_a_redirect_is_not_followed_with_the_token() -> None:
    async def redirect(request: web.Request) -> web.Response:
        raise web.HTTPFound("http://elsewhere.invalid/")

    assert (await exchange(redirect, ApiRequest("GET", "/", "call"))).status == 302


async def test_an_unreachable_platform_is_offline() -> None:
    client = PlatformHttpClient("Chat", f"http://127.0.0.1:{free_port()}/{SECRET}", DIRECT)
    with pytest.raises(PlatformOffline, match="not connected"):
        await client.send(ApiRequest("POST", "/", "send"))
    async with client.connection():
        with pytest.raises(PlatformOffline, match=r"Chat can't be reached: Connect") as refusal:
            await client.send(ApiRequest("POST", "/", "send"))
    assert SECRET not in str(refusal.value)
    assert refusal.value.retry_after


async def test_no_answer_and_a_cut_connection_are_uncertain() -> None:
    async def cut(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def silent(request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    for handler in (cut, silent):
        with pytest.raises(PlatformUncertain, match="send") as error:
            await exchange(handler, ApiRequest("POST", f"/{SECRET}", "send", seconds=0.2))
        assert SECRET not in str(error.value)


@pytest.mark.parametrize(
    ("method", "status", "expected"),
    [
        ("POST", 400, PlatformRefused),
        ("POST", 429, PlatformRefused),
        ("POST", 502, PlatformUncertain),
        ("GET", 502, PlatformOffline),
        ("GET", 500, PlatformUncertain),
    ],
)
def test_a_status_becomes_an_error_of_the_port(method: str, status: int, expected: type[Exception]) -> None:
    response = ApiResponse(status, {"Retry-After": "7"}, b'{"reason": "because"}')
    with pytest.raises(expected) as error:
        check_status("Chat", ApiRequest(method, "/", "send"), response, lambda each: str(each.read_object()))
    assert type(error.value) is expected
    if status == 429:
        assert getattr(error.value, "retry_after", None) == 7
    if status in (400, 429, 500):
        assert "because" in str(error.value)


def test_a_successful_response_is_returned() -> None:
    response = ApiResponse(204, {}, b"")
    assert check_status("Chat", ApiRequest("GET", "/", "x"), response, lambda each: "") is response
    assert response.read_object() is None
