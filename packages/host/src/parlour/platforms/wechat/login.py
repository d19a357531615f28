"""The login by QR code: the gateway issues the token of the account that scanned and confirmed it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from parlour.core.platforms.login import LoginStep
from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.payloads import Payload, text
from parlour.platforms._kit.proxy_fields import configured_proxies

from .addresses import is_trusted, redirected
from .client import WechatClient
from .entities import BASE_URL, BOT_TYPE, SERVICE

WAIT_SECONDS = 25.0
"""Seconds for which one step waits; the gateway holds the call somewhat longer."""
PAUSE_SECONDS = 1.0
MAX_REFRESHES = 3


class WechatLogin:
    """The login of one bot. Without a stored token it is the first one."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._base_url = str(config.get("base_url") or BASE_URL).rstrip("/")
        self._old_token = str(config.get("token") or "")
        self._client = WechatClient(self._base_url, "", configured_proxies(config))

    async def begin(self) -> LoginStep:
        async with self._client.connection():
            return await self._fetch_code(0)

    async def proceed(self, session: Mapping[str, Any], code: str = "") -> LoginStep:
        """Asks once for the state. A call that is not answered in time counts as waiting."""
        session = dict(session)
        query = {"qrcode": text(session, "qrcode")} | ({"verify_code": code} if code else {})
        answer: Payload = {"status": "wait"}
        async with self._client.connection():
            with suppress(TimeoutError, PlatformUncertain, PlatformOffline):
                async with asyncio.timeout(WAIT_SECONDS):
                    answer = await self._client.get(text(session, "host"), "get_qrcode_status", query, 2 * WAIT_SECONDS)
            return await self._step(session, answer, bool(code))

    async def _step(self, session: Payload, answer: Payload, had_code: bool) -> LoginStep:
        qr_text, status = text(session, "qr_text"), text(answer, "status")
        match status:
            case "wait" | "scaned":
                state = "waiting" if status == "wait" else "scanned"
                if session.get("seen") == state:
                    await asyncio.sleep(PAUSE_SECONDS)
                return LoginStep(state, qr_text, {**session, "seen": state})  # type: ignore[arg-type]
            case "scaned_but_redirect":
                host = redirected(text(answer, "redirect_host"), self._base_url)
                if not host:
                    raise PlatformRefused(f"{SERVICE} named a host for the login that is not one of its own")
                return LoginStep("scanned", qr_text, {**session, "host": host, "seen": "scanned"})
            case "need_verifycode":
                return LoginStep("code_needed", qr_text, session, is_repeat=had_code)
            case "expired" | "verify_code_blocked":
                refreshes = int(session.get("refreshes") or 0) + 1
                if refreshes > MAX_REFRESHES:
                    return LoginStep("expired")
                return await self._fetch_code(refreshes)
            case "binded_redirect" if self._old_token:
                return LoginStep("confirmed")
            case "confirmed":
                return self._confirmed(answer)
        raise PlatformRefused(f"{SERVICE} answered the login with the unknown state '{status[:40]}'")

    def _confirmed(self, answer: Payload) -> LoginStep:
        token, account = text(answer, "bot_token"), text(answer, "ilink_bot_id")
        if not token or not account:
            raise PlatformRefused(f"{SERVICE} confirmed the login without a token; start the login again")
        config = {"account": account, "owner": text(answer, "ilink_user_id")}
        address = text(answer, "baseurl").rstrip("/")
        if address and address != self._base_url:
            if not is_trusted(address, self._base_url):
                raise PlatformRefused(f"{SERVICE} named a server that is not one of its own")
            config["base_url"] = address
        return LoginStep("confirmed", config=config, secrets={"token": token})

    async def _fetch_code(self, refreshes: int) -> LoginStep:
        known = [self._old_token] if self._old_token else []
        answer = await self._client.call("get_bot_qrcode", {"local_token_list": known}, query=f"?bot_type={BOT_TYPE}")
        code, qr_text = text(answer, "qrcode"), text(answer, "qrcode_img_content")
        if not code or not qr_text:
            raise PlatformUncertain("what answers at base_url is not the iLink gateway of WeChat")
        session = {"qrcode": code, "qr_text": qr_text, "refreshes": refreshes}
        return LoginStep("refreshed" if refreshes else "waiting", qr_text, session)


def create_login(config: Mapping[str, Any]) -> WechatLogin:
    return WechatLogin(config)
