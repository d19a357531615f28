"""Removes secrets from logs, errors and stored texts: registered secrets, and everything that looks like one.

The program builds one redactor for a Host and its log, and passes it to all parts that obtain or redact secrets.
"""

import json
import re
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, urlsplit

from .encoding import dumps, loads
from .secrets import SecretBox

MASK: Final = "[redacted]"
MIN_SECRET_CHARACTERS = 6
"""Characters. Shorter secrets are not masked, since they also occur inside ordinary words."""
MAX_REPEATED_TEXTS = 64
MAX_REPEATED_CHARACTERS = 16 * 1024
"""Characters of a text whose redacted form is kept."""

# No alternative may start within text at which it could have started earlier; this keeps the search linear.
SECRET_PATTERN = re.compile(
    r"""
      (?P<url>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://)[^\s/@"']+@           # credentials in an address
    | (?P<header>authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|bot|token)\s+)?)[^\s"',;]+
    | (?P<scheme>\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{12,}
    | (?P<name>(?:api[_-]?key|token|secret|password|passwd)["']?(?:=["']?|\s*:\s*["']))[^\s"'&,;]{4,}
    | (?<![a-z0-9_-])(?:[spr]k-[a-z0-9_-]{12,}|parlour_[a-z0-9_-]{20,}|gh[pousr]_[a-z0-9]{20,})
    | (?<![a-z0-9_-])(?:xox[abprs]-[a-z0-9-]{10,}|AKIA[0-9A-Z]{16}\b|AIza[a-z0-9_-]{30,})
    | (?<!\d)\d{6,12}:[a-z0-9_-]{30,}                           # a bot's token
    | (?<![a-z0-9_-])eyJ[a-z0-9_-]{8,}\.[a-z0-9_-]{8,}\.[a-z0-9_-]*     # a signed one
    """,
    re.IGNORECASE | re.VERBOSE,
)

# Each alternative needs one of these in lower case. Few texts have any, and the check is much cheaper than the pattern.
_SECRET_HINTS: Final = (
    *("://", "authorization", "bearer", "basic", "key", "token", "secret", "passw"),
    *("sk-", "pk-", "rk-", "parlour_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "akia", "aiza", "eyj"),
)
_NAME_HINTS: Final = ("authorization", "key", "token", "secret", "passw")
"""The names of fields whose values are secrets contain one of these."""
_BOT_TOKEN = re.compile(r"[0-9]{6}:")


class Redactor:
    """Replaces secrets in texts by a mask."""

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._redact_repeated = lru_cache(MAX_REPEATED_TEXTS)(self._redact_json)

    def add_secret(self, secret: str) -> None:
        """Registers a secret, also in its JSON and URL encodings; of a URL its password is registered separately."""
        forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")}
        password = _password(secret)
        forms |= {password, quote(password, safe="")} if password else set()
        new = {form for form in forms if len(form) >= MIN_SECRET_CHARACTERS} - self._secrets
        if new:
            self._secrets |= new
            longest_first = sorted(self._secrets, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
            self._redact_repeated.cache_clear()

    def redact(self, text: str) -> str:
        """Returns the text with every registered or apparent secret masked."""
        if len(text) < MIN_SECRET_CHARACTERS:
            return text
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        return SECRET_PATTERN.sub(mask_match, text) if _may_contain_secrets(text) else text

    def redact_json(self, text: str) -> str:
        """Redacts each string of a JSON text separately, so that it stays valid JSON.

        Redacted as a single text it could lose quotes and braces.
        """
        return self._redact_json(text)

    def redact_repeated_json(self, text: str) -> str:
        """Does the same for a text that is likely to come again, such as the system message of an agent.

        The results of the latest such texts are kept in memory.
        """
        return self._redact_repeated(text) if len(text) <= MAX_REPEATED_CHARACTERS else self._redact_json(text)

    def _redact_json(self, text: str) -> str:
        has_known_secret = self._pattern is not None and self._pattern.search(text) is not None
        if not has_known_secret and not _may_contain_secrets(text):
            return text
        try:
            value = loads(text)
        except ValueError:  # not readable as JSON, such as nested too deep; the secrets are still removed
            return self.redact(text)
        cleaned = self._redact_value(value)
        return text if cleaned == value else dumps(cleaned)

    def _redact_value(self, value: Any, name: str = "") -> Any:
        match value:
            case str():
                return self._redact_named(value, name)
            case list():
                return [self._redact_value(each, name) for each in value]
            case dict():
                return {self.redact(key): self._redact_value(each, key) for key, each in value.items()}
        return value

    def _redact_named(self, text: str, name: str) -> str:
        """Redacts a text that is recognized as a secret only by the name of its field, such as `password`."""
        cleaned = self.redact(text)
        if cleaned != text or not any(hint in name.lower() for hint in _NAME_HINTS):
            return cleaned
        json_field = f'"{name}": "{text}"'
        return text if self.redact(json_field) == json_field else MASK


class RedactingSecretBox:
    """Secret box that registers every secret it seals or opens with the redactor."""

    def __init__(self, box: SecretBox, redactor: Redactor) -> None:
        self._box = box
        self._redactor = redactor

    def seal(self, secret: str) -> str:
        self._redactor.add_secret(secret)
        return self._box.seal(secret)

    def open(self, sealed: str) -> str:
        secret = self._box.open(sealed)
        self._redactor.add_secret(secret)
        return secret


def _may_contain_secrets(text: str) -> bool:
    lowered = text.lower()
    return any(hint in lowered for hint in _SECRET_HINTS) or _BOT_TOKEN.search(text) is not None


def mask_match(match: re.Match[str]) -> str:
    prefix = next((part for part in match.groups() if part is not None), "")
    return f"{prefix}{MASK}@" if match["url"] is not None else f"{prefix}{MASK}"


def _password(secret: str) -> str:
    if "://" not in secret:
        return ""
    try:
        return urlsplit(secret).password or ""
    except ValueError:
        return ""
