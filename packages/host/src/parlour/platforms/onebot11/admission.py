"""Decides which OneBot implementations may connect. It is called before a WebSocket opens, at either address."""

import hmac
from http import HTTPStatus
from urllib.parse import parse_qs

from parlour.core.platforms.hooks import Handshake
from parlour.core.platforms.port import Link
from parlour_sdk.values import dataclass

from .accounts import Accounts

PATHS = ("/", "/ws", "/onebot/v11/ws")
"""Paths at the bot's own port; at the Host's port only the last one is accepted."""
ROLES = ("universal", "api", "event")
LONGEST_ACCOUNT = 64


@dataclass(frozen=True, slots=True)
class Refusal:
    """Reason for refusing a WebSocket, with its HTTP status."""

    status: HTTPStatus
    sentence: str


class Admission:
    """Checks the handshakes of OneBot implementations."""

    def __init__(self, link: Link, accounts: Accounts) -> None:
        self._token = str(link.config.get("access_token") or "")
        self._accounts = accounts

    async def refusal(self, asked: Handshake, token_required: bool = False) -> Refusal | None:
        """Returns None for an implementation that may connect."""
        account, *others = asked.header_values("x-self-id") or [""]
        if others or len(account) > LONGEST_ACCOUNT:
            return Refusal(HTTPStatus.BAD_REQUEST, "X-Self-ID: one account's number is expected")
        if asked.header_values("origin"):
            self._accounts.web_page(asked.peer)
            return Refusal(HTTPStatus.FORBIDDEN, "Origin: web pages may not connect to a OneBot bot")
        if token_required and not self._token:
            self._accounts.token_missing(asked.peer)
            sentence = "this bot has no access token, which this address requires; set access_token in the bot"
            return Refusal(HTTPStatus.FORBIDDEN, sentence)
        if not self._token_fits(asked):
            self._accounts.wrong_token(account, asked.peer)
            return Refusal(HTTPStatus.UNAUTHORIZED, "the access token is missing or wrong")
        paths = PATHS[-1:] if token_required else PATHS
        if asked.path.rstrip("/") not in {path.rstrip("/") for path in paths}:
            self._accounts.wrong_path(account, asked.peer, paths)
            return Refusal(HTTPStatus.NOT_FOUND, f"connect to one of {', '.join(paths)}")
        if account and await self._accounts.claimed(account, role_of(asked)):
            self._accounts.second_claim(account, asked.peer)
            return Refusal(HTTPStatus.CONFLICT, f"account {account} is connected already")
        return None

    def _token_fits(self, asked: Handshake) -> bool:
        if not self._token:
            return True
        scheme, _, given = asked.header("authorization").partition(" ")
        if scheme.lower() not in ("bearer", "token"):
            given = ""
        named = parse_qs(asked.query).get("access_token", [""])[0]
        return any(hmac.compare_digest(each.encode(), self._token.encode()) for each in (given.strip(), named))


def role_of(asked: Handshake) -> str:
    role = asked.header("x-client-role").lower()
    return role if role in ROLES else "universal"
