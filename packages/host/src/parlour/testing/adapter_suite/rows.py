"""Describes a row of the shared suite, and collects behaviours from the functions that check them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from parlour.testing.evidence import Section

from .driver import PlatformDriver

Check = Callable[..., Awaitable[None]]
SomeCheck = TypeVar("SomeCheck", bound=Check)


@dataclass(frozen=True)
class Row:
    """One promise of an adapter. `check` takes a HostBench, or an AdapterBench if the row needs no Host."""

    section: Section
    name: str
    check: Check
    on_host: bool = True
    is_long: bool = False
    for_connecting: bool = False
    """True for a row that concerns only adapters that connect themselves."""

    @property
    def id(self) -> str:
        return f"{self.section} {self.name}"

    def is_for(self, driver: type[PlatformDriver]) -> bool:
        """Returns whether the row concerns an adapter in this driver's mode."""
        return driver.connects or not self.for_connecting


BEHAVIOURS: dict[str, Row] = {}
"""All behaviours by name, in the order of the documentation."""


def behaviour(
    name: str, on_host: bool = True, is_long: bool = False, for_connecting: bool = False
) -> Callable[[SomeCheck], SomeCheck]:
    """Registers a check as the row of this behaviour."""

    def register(check: SomeCheck) -> SomeCheck:
        BEHAVIOURS[name] = Row("behaviours", name, check, on_host, is_long, for_connecting)
        return check

    return register


def absence_key(name: str) -> str:
    """Returns the key of a behaviour in the manifest's `not_supported`."""
    return f"behaviour {name}"
