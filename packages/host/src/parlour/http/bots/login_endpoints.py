"""Endpoints of the login to a platform by QR code. A login keeps no state on the Host: its session is sealed and kept
by the client, so that any Host of a cluster continues it."""

import json
from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from parlour.core.config.bots import Bot
from parlour.core.encoding import dumps
from parlour.core.model.ids import BotId
from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms.bot_config import decrypt_config
from parlour.core.platforms.login import LoginCatalogue, LoginState, LoginStep, PlatformLogin
from parlour.core.platforms.port import AdapterStopped, PlatformRefused, PlatformUncertain
from parlour.core.secrets import SecretBox, SecretUnreadable

from ..api_router import ApiRouter
from ..auth import Admin
from ..errors import Problem, invalid_field
from ..principals import Principal
from .qr_code import qr_rows

SaveLogin = Callable[[BotId, LoginStep, Principal], Awaitable[None]]
"""Stores the fields and secrets of a confirmed login, and connects the bot with them."""
FindBot = Callable[[BotId], Bot]


class LoginContinuation(BaseModel):
    """`session` is that of the previous response; `code` has the digits that the phone shows, if they are needed."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"session": "v1.…", "code": ""}]})

    session: str = Field(min_length=1, max_length=20_000)
    code: str = Field(default="", max_length=12, pattern=r"^[0-9]*$")


class LoginResponse(TypedDict):
    state: LoginState
    """`code_needed`: the phone shows digits to enter. `refreshed`: there is a new QR code."""
    session: str | None
    """Sealed, for the next step; null if there is none."""
    qr: list[str] | None
    """The modules of the QR code, row by row: `1` is dark."""
    link: str | None
    """The text of the QR code, to open it on the phone itself."""
    code_is_wrong: bool
    """The digits that were sent are wrong."""


class LoginSteps:
    """Makes the steps of logins, and seals what is between them."""

    def __init__(self, catalogue: LoginCatalogue, secrets: SecretBox, save: SaveLogin) -> None:
        self._catalogue = catalogue
        self._secrets = secrets
        self._save = save

    async def begin(self, bot: Bot) -> LoginResponse:
        return self._to_response(bot, await _performed(self._login(bot).begin()))

    async def proceed(self, bot: Bot, body: LoginContinuation, principal: Principal) -> LoginResponse:
        session = self._open(bot, body.session)
        step = await _performed(self._login(bot).proceed(session, body.code))
        if step.state == "confirmed":
            await self._save(bot.bot_id, step, principal)
        return self._to_response(bot, step)

    def _login(self, bot: Bot) -> PlatformLogin:
        try:
            login = self._catalogue.create_login(bot.adapter, decrypt_config(bot, self._secrets))
        except SecretUnreadable:  # the login replaces the secret that can't be read
            login = self._catalogue.create_login(bot.adapter, bot.config)
        except AdapterStopped as stopped:
            raise invalid_field("adapter_config", str(stopped)) from None
        if login is None:
            message = f"a bot of the adapter '{bot.adapter}' has no login by QR code; enter its token instead"
            raise Problem(409, "conflict", message)
        return login

    def _open(self, bot: Bot, sealed: str) -> dict[str, object]:
        try:
            session = json.loads(self._secrets.open(sealed))
        except (SecretUnreadable, ValueError):
            session = {}
        if not isinstance(session, dict) or session.pop("bot_id", "") != bot.bot_id:
            raise invalid_field("session", "it belongs to no login of this bot; start the login again")
        return session

    def _to_response(self, bot: Bot, step: LoginStep) -> LoginResponse:
        goes_on = step.state not in ("expired", "confirmed")
        return {
            "state": step.state,
            "session": self._secrets.seal(dumps({**step.session, "bot_id": bot.bot_id})) if goes_on else None,
            "qr": qr_rows(step.qr_text) if goes_on and step.qr_text else None,
            "link": step.qr_text if goes_on and step.qr_text.startswith("https://") else None,
            "code_is_wrong": step.is_repeat,
        }


def add_login_routes(routes: ApiRouter, find_bot: FindBot, steps: LoginSteps) -> None:
    """Registers the routes of logins."""

    @routes.post("/bots/{bot_id}/login")
    async def begin_bot_login(bot_id: BotId, principal: Admin) -> LoginResponse:
        """Starts a login: the QR code is scanned with the app of the platform."""
        return await steps.begin(find_bot(bot_id))

    @routes.post("/bots/{bot_id}/login/continue")
    async def continue_bot_login(bot_id: BotId, body: LoginContinuation, principal: Admin) -> LoginResponse:
        """Waits up to half a minute for the person, and returns the state. A confirmed login connects the bot."""
        return await steps.proceed(find_bot(bot_id), body, principal)


async def _performed(call: Awaitable[LoginStep]) -> LoginStep:
    try:
        return await call
    except PlatformRefused as refused:
        raise ProviderFailed("runtime_error", refused.reason, retryable=not refused.permanent) from refused
    except PlatformUncertain as error:
        raise ProviderFailed("runtime_error", str(error), retryable=True) from error
