"""Text review of Baidu's content moderation platform.

A key of the kind `bce-v3/...` is sent as it is. A pair `API_KEY:SECRET_KEY` is exchanged for a token, which is kept
in memory until a day before it ends.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from parlour.core.model.moderation import Moderate, ModerationAnswer, ModerationCategory
from parlour_sdk.values import dataclass

from ...errors import ModelCallFailure
from ..base import CallTarget, ModelHttpRequest, entries, malformed, number, text_of
from .base import joined_categories, score

PATH = "/rest/2.0/solution/v1/text_censor/v2/user_defined"
TOKEN_PATH = "/oauth/2.0/token"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MAX_TEXT_BYTES = 20_000
"""Longest text of a request, in UTF-8."""
EARLY_SECONDS = 86_400
"""A token is replaced this long before it ends; it is valid for thirty days."""
COMPLIANT, VIOLATION, SUSPECTED, FAILED = 1, 2, 3, 4
SCORES = {VIOLATION: 1.0, SUSPECTED: 0.5}
"""Scores of findings for which the service gives none."""
CATEGORIES = {0: "spam", 1: "violence", 2: "sexual", 3: "politics", 4: "advertising", 5: "abuse"}
"""Categories of the model of the service, by its number."""
WORD_LISTS = {11: "banned_words", 13: "own_words"}
"""Categories of word lists, by the type of the finding."""
MODEL_FINDING = 12
LIMIT_ERRORS = (4, 17, 18, 19)
KEY_ERRORS = (6, 14, 100, 110, 111)


class BaiduModeration:
    """Checks the texts in as many requests as their length needs."""

    def requests(self, target: CallTarget, request: Moderate) -> Sequence[ModelHttpRequest]:
        options = {name: str(value) for name, value in target.model.parameters.items()}
        return [
            ModelHttpRequest(PATH, {}, FORM, form={**options, "text": part})
            for part in _parts("\n".join(request.texts))
        ]

    def parse_answer(self, body: Any) -> ModerationAnswer:
        if not isinstance(body, dict):
            raise malformed("no object")
        if body.get("error_code"):
            raise _failure(body)
        conclusion = number(body, "conclusionType")
        if conclusion == FAILED:
            raise ModelCallFailure("provider_failed", "could not check the text")
        if conclusion not in (COMPLIANT, VIOLATION, SUSPECTED):
            raise malformed("no conclusion")
        categories = joined_categories(map(_category, entries(body, "data")))
        return ModerationAnswer(conclusion != COMPLIANT, categories if conclusion != COMPLIANT else ())


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    ends_at: float


class BaiduTokens:
    """The tokens of key pairs. `fetch` sends a request without a key and returns the response."""

    def __init__(self, fetch: Callable[[ModelHttpRequest], Awaitable[Any]]) -> None:
        self._fetch = fetch
        self._tokens: dict[str, _Token] = {}

    async def path(self, path: str, key: str) -> str:
        """Returns the path with the token of a key pair; the path itself for a key that is sent in a header."""
        if ":" not in key:
            return path
        now = asyncio.get_running_loop().time()
        token = self._tokens.get(key)
        if token is None or token.ends_at <= now:
            token = self._tokens[key] = await self._request(key, now)
        return f"{path}?{urlencode({'access_token': token.text})}"

    def forget(self) -> None:
        """Drops all tokens, after one was refused."""
        self._tokens.clear()

    async def _request(self, key: str, now: float) -> _Token:
        client_id, _, secret = key.partition(":")
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        body = await self._fetch(ModelHttpRequest(TOKEN_PATH, {}, FORM, form=form))
        token = text_of(body, "access_token")
        if not token:
            detail = text_of(body, "error_description") or text_of(body, "error")
            raise ModelCallFailure("key_refused", f"does not accept the key pair: {detail or 'it gave no token'}")
        return _Token(token, now + max(0, number(body, "expires_in") - EARLY_SECONDS))


def key_headers(key: str) -> dict[str, str]:
    """Returns the headers of a key that needs no token."""
    return {} if ":" in key else {"Authorization": f"Bearer {key}"}


def _category(finding: Any) -> ModerationCategory:
    kind, conclusion = number(finding, "type"), number(finding, "conclusionType") or VIOLATION
    name = CATEGORIES.get(number(finding, "subType")) if kind == MODEL_FINDING else WORD_LISTS.get(kind)
    probabilities = [score(hit.get("probability"), 0.0) for hit in entries(finding, "hits")]
    found = max(probabilities, default=0.0) or score(finding.get("probability"), 0.0)
    is_flagged = conclusion in (VIOLATION, SUSPECTED)
    return ModerationCategory(
        name or f"{kind}.{number(finding, 'subType')}", is_flagged, found or SCORES.get(conclusion, 0.0)
    )


def _failure(body: Any) -> ModelCallFailure:
    code, message = number(body, "error_code"), text_of(body, "error_msg") or "it does not say why"
    if code in LIMIT_ERRORS:
        return ModelCallFailure("rate_limited", f"gets too many requests ({code}): {message}")
    if code in KEY_ERRORS:
        return ModelCallFailure("key_refused", f"does not accept the API key ({code}): {message}")
    return ModelCallFailure("provider_failed", f"could not check the text ({code}): {message}")


def _parts(text: str) -> Iterator[str]:
    """Yields the text in parts that a request can take."""
    encoded = text.encode(errors="replace")
    while len(encoded) > MAX_TEXT_BYTES:
        end = MAX_TEXT_BYTES
        while encoded[end] & 0xC0 == 0x80:  # in the middle of a character
            end -= 1
        yield encoded[:end].decode()
        encoded = encoded[end:]
    yield encoded.decode()
