"""Tests the login by QR code against the simulated gateway: each state, the redirect, the digits, and trust."""

from typing import Any

import pytest

from parlour.core.platforms.login import LoginStep
from parlour.core.platforms.port import PlatformRefused
from parlour.platforms.wechat.login import MAX_REFRESHES, WechatLogin
from parlour.testing.wechat_simulator import ACCOUNT, TOKEN, WechatSimulator


def login(gateway: str, **config: Any) -> WechatLogin:
    return WechatLogin({"base_url": gateway, **config})


async def begun(flow: WechatLogin) -> LoginStep:
    step = await flow.begin()
    assert step.state == "waiting"
    assert step.qr_text.startswith("https://liteapp.weixin.qq.com/")
    return step


async def test_a_scanned_and_confirmed_code_gives_the_token(simulator: WechatSimulator, gateway: str) -> None:
    flow = login(gateway)
    step = await begun(flow)
    simulator.logins.move(simulator.logins.find(step.qr_text), "scaned")
    step = await flow.proceed(step.session)
    assert step.state == "scanned"
    simulator.logins.move(simulator.logins.newest, "confirmed")
    step = await flow.proceed(step.session)
    assert (step.state, step.secrets, step.config["account"]) == ("confirmed", {"token": TOKEN}, ACCOUNT)


async def test_an_expired_code_is_refreshed_three_times(simulator: WechatSimulator, gateway: str) -> None:
    flow = login(gateway)
    step = await begun(flow)
    codes = {step.qr_text}
    for _ in range(MAX_REFRESHES):
        simulator.logins.move(simulator.logins.newest, "expired")
        step = await flow.proceed(step.session)
        assert step.state == "refreshed"
        codes.add(step.qr_text)
    simulator.logins.move(simulator.logins.newest, "expired")
    assert (await flow.proceed(step.session)).state == "expired"
    assert len(codes) == MAX_REFRESHES + 1


async def test_the_digits_of_the_phone_are_asked_for_until_they_are_right(
    simulator: WechatSimulator, gateway: str
) -> None:
    flow = login(gateway)
    step = await begun(flow)
    simulator.logins.newest.digits = "123456"
    simulator.logins.move(simulator.logins.newest, "need_verifycode")
    step = await flow.proceed(step.session)
    assert (step.state, step.is_repeat) == ("code_needed", False)
    step = await flow.proceed(step.session, "000000")
    assert (step.state, step.is_repeat) == ("code_needed", True)
    assert (await flow.proceed(step.session, "123456")).state == "confirmed"


async def test_too_many_wrong_digits_give_a_new_code(simulator: WechatSimulator, gateway: str) -> None:
    flow = login(gateway)
    step = await begun(flow)
    simulator.logins.move(simulator.logins.newest, "verify_code_blocked")
    assert (await flow.proceed(step.session)).state == "refreshed"


async def test_a_redirect_is_followed_only_to_a_host_of_the_platform(simulator: WechatSimulator, gateway: str) -> None:
    flow = login(gateway)
    step = await begun(flow)
    async with simulator.server.listening() as other:
        simulator.logins.newest.host = other.removeprefix("http://")
        simulator.logins.move(simulator.logins.newest, "scaned")
        step = await flow.proceed(step.session)
        assert step.state == "scanned"
        await flow.proceed(step.session)
        assert simulator.logins.asked_at[-1] == other.removeprefix("http://")
        simulator.logins.newest.host = "evil.example.org"
        with pytest.raises(PlatformRefused, match="not one of its own"):
            await flow.proceed(step.session)


async def test_an_account_that_is_still_bound_keeps_its_token(simulator: WechatSimulator, gateway: str) -> None:
    flow = login(gateway, token="old")
    simulator.logins.bound_tokens.add("old")
    step = await begun(flow)
    simulator.logins.move(simulator.logins.newest, "confirmed")
    step = await flow.proceed(step.session)
    assert (step.state, step.secrets, step.config) == ("confirmed", {}, {})


async def test_a_confirmation_without_account_or_from_a_foreign_server_fails(
    simulator: WechatSimulator, gateway: str
) -> None:
    flow = login(gateway)
    step = await begun(flow)
    whole = dict(simulator.logins.confirmed)
    simulator.logins.move(simulator.logins.newest, "confirmed")
    for wrong in ({"ilink_bot_id": ""}, {"bot_token": ""}, {"baseurl": "https://evil.example.org"}):
        simulator.logins.confirmed = {**whole, **wrong}
        with pytest.raises(PlatformRefused):
            await flow.proceed(step.session)


async def test_a_call_that_is_not_answered_counts_as_waiting(simulator: WechatSimulator, gateway: str) -> None:
    flow = login(gateway)
    step = await begun(flow)
    simulator.server.turned_away = 1
    assert (await flow.proceed(step.session)).state == "waiting"
