"""The logins of the simulated WeChat: QR codes, and what the person with the phone does."""

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from .checks import WechatRefusal

Json = dict[str, Any]
CODE_LINK = "https://liteapp.weixin.qq.com/q/7GiQu1?qrcode="


@dataclass
class SimulatedLogin:
    """One QR code with its state."""

    code: str
    old_tokens: list[str]
    status: str = "wait"
    digits: str = ""
    """The digits that the phone shows; empty if it asks for none."""
    host: str = ""
    """The host that must be asked; empty for any."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class SimulatedLogins:
    def __init__(self) -> None:
        self.codes: list[SimulatedLogin] = []
        self.hold_seconds = 30.0
        self.bound_tokens: set[str] = set()
        """Tokens of accounts that stay connected to this installation."""
        self.confirmed: Json = {}
        """The answer to a confirmed login."""
        self.asked_at: list[str] = []
        """The hosts at which states were asked for."""
        self._numbers = itertools.count(1)

    @property
    def newest(self) -> SimulatedLogin:
        return self.codes[-1]

    def create(self, body: Json) -> Json:
        code = f"qr-{next(self._numbers)}"
        self.codes.append(SimulatedLogin(code, list(body.get("local_token_list") or [])))
        return {"ret": 0, "qrcode": code, "qrcode_img_content": f"{CODE_LINK}{code}&bot_type=3"}

    def find(self, link: str) -> SimulatedLogin:
        """Returns the login of a QR code by the text in it, as the app does that scans it."""
        code = link.removeprefix(CODE_LINK).partition("&")[0]
        return next(each for each in self.codes if each.code == code)

    def move(self, login: SimulatedLogin, status: str) -> None:
        """Changes the state of a login, which answers the call that waits for it."""
        login.status = status
        login.changed.set()

    async def status(self, request: web.Request) -> Json:
        login = next((each for each in self.codes if each.code == request.query.get("qrcode")), None)
        if login is None:
            raise WechatRefusal(-1, "no such qrcode")
        self.asked_at.append(request.host)
        if login.status == "wait" and not login.changed.is_set():
            try:
                async with asyncio.timeout(self.hold_seconds):
                    await login.changed.wait()
            except TimeoutError:
                return {"ret": 0, "status": "wait"}
        if login.host and request.host != login.host:
            return {"ret": 0, "status": "scaned_but_redirect", "redirect_host": login.host}
        status = login.status
        if status == "need_verifycode" and login.digits and request.query.get("verify_code") == login.digits:
            status = login.status = "confirmed"
        if status == "confirmed" and self.bound_tokens & set(login.old_tokens):
            status = "binded_redirect"
        return {"ret": 0, "status": status, **(self.confirmed if status == "confirmed" else {})}
