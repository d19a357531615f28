"""Decides which OneBot implementations may connect. It is called before a WebSocket opens, at either address."""

import hmac
from http import HTTPStatus
from urllib.parse import parse_qs

from parlour.core.platforms.hooks import Handshake
from parlour.core.platforms.port import HostLink
from parlour_sdk.values import dataclass

from .accounts import OneBotAccounts

PATHS = ("/", "/ws", "/onebot/v11/ws")
"""Paths at the bot's own port; at the Host's port only the last one is accepted."""
ROLES = ("universal", "api", "event")
MAX_ACCOUNT_LENGTH = 64


@dataclass(frozen=True, slots=True)
class AdmissionRefusal:
    """Reason for refusing a WebSocket, with its HTTP status."""

    status: HTTPStatus
    sentence: str


class Admission:
    """Checks the handshakes of OneBot implementations."""

    def __init__(self, link: HostLink, accounts: OneBotAccounts) -> None:
        self._token = str(link.config.get("access_token") or "")
        self._accounts = accounts

    async def refusal(self, asked: Handshake, token_required: bool = False) -> AdmissionRefusal | None:
        """Returns None for an implementation that may connect."""
        account, *others = asked.header_values("x-self-id") or [""]
        if others or len(account) > MAX_ACCOUNT_LENGTH:
            return AdmissionRefusal(HTTPStatus.BAD_REQUEST, "X-Self-ID: one account's number is expected")
        if asked.header_values("origin"):
            self._accounts.report_web_page(asked.peer)
            return AdmissionRefusal(HTTPStatus.FORBIDDEN, "Origin: web pages may not connect to a OneBot bot")
        if token_required and not self._token:
            self._accounts.report_missing_token(asked.peer)
            sentence = "this bot has no access token, which this address requires; set access_token in the bot"
            return AdmissionRefusal(HTTPStatus.FORBIDDEN, sentence)
        if not self._token_fits(asked):
            self._accounts.report_wrong_token(account, asked.peer)
            return AdmissionRefusal(HTTPStatus.UNAUTHORIZED, "the access token is missing or wrong")
        paths = PATHS[-1:] if token_required else PATHS
        if asked.path.rstrip("/") not in {path.rstrip("/") for path in paths}:
            self._accounts.report_wrong_path(account, asked.peer, paths)
            return AdmissionRefusal(HTTPStatus.NOT_FOUND, f"connect to one of {', '.join(paths)}")
        if account and await self._accounts.find_live_claim(account, role_of(asked)):
            self._accounts.report_second_claim(account, asked.peer)
            return AdmissionRefusal(HTTPStatus.CONFLICT, f"account {account} is connected already")
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
