"""The port of platforms to which a person logs in by scanning a QR code, instead of entering a token.

A login keeps no state on the Host: each step returns what the next one needs.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

from parlour_sdk.values import dataclass

LoginState = Literal["waiting", "scanned", "code_needed", "refreshed", "expired", "confirmed"]
"""`code_needed`: the person must enter the digits that the phone shows. `refreshed`: the QR code expired and there is a
new one. `expired`: no further one is fetched; the login must be started again.
"""


@dataclass(frozen=True, slots=True)
class LoginStep:
    """The state of a login."""

    state: LoginState
    qr_text: str = field(default="", repr=False)
    """The text of the QR code; empty if none is to be scanned any more."""
    session: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the next step needs."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the bot's form that a confirmed login fills in."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secrets of the bot's form that a confirmed login fills in."""
    is_repeat: bool = False
    """True if the code that was entered is wrong."""


class PlatformLogin(Protocol):
    """The login of one bot. Both methods raise PlatformRefused or PlatformUncertain."""

    async def begin(self) -> LoginStep: ...

    async def proceed(self, session: Mapping[str, Any], code: str = "") -> LoginStep:
        """Waits some seconds for what the person does, and returns the state after that."""
        ...


class LoginCatalogue(Protocol):
    """The platforms with a login."""

    def create_login(self, name: str, config: Mapping[str, Any]) -> PlatformLogin | None:
        """Returns the login of a platform for a bot with this configuration; None if the platform has none."""
        ...
