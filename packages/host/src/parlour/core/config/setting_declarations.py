"""Declares which settings can be changed while the Host runs.

A setting is declared once, as a field of a section in `app/settings.py` that is marked with `RuntimeSetting`. The HTTP
schemas, the table of the documentation and the form of the page are derived from the declarations.
"""

from dataclasses import field
from typing import Any

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class RuntimeSetting:
    """Marks a field of the settings as one that can be changed while the Host runs."""

    accepts: Any = None
    """Type of a new value for pydantic, with its limits; by default the type of the field without its limits."""
    description: str = ""
    """Describes the value in the response of `GET /settings`."""
    unit: str = ""
    """Unit of a number, such as days."""
    default_text: str = ""
    """Describes a default that is computed, or that stands for something else."""
    pattern_message: str = ""
    """Message for a value that does not match the pattern in `accepts`."""


@dataclass(frozen=True, slots=True)
class DeclaredSetting:
    """A setting that can be changed while the Host runs, as its field declares it."""

    section: str
    name: str
    type: Any
    """Type of the field, without limits."""
    default: Any
    """Default of the field; None if it is computed."""
    options: RuntimeSetting

    @property
    def key(self) -> str:
        """The full name, such as `retention.events_days`."""
        return f"{self.section}.{self.name}"

    @property
    def accepts(self) -> Any:
        """The type of a new value."""
        return self.type if self.options.accepts is None else self.options.accepts


@dataclass(frozen=True, slots=True)
class DeclaredSection:
    """A section of the settings with the fields that can be changed while the Host runs."""

    name: str
    request_schema: str
    """Name of the section's schema in requests."""
    response_schema: str
    request_description: str = ""
    response_description: str = ""
    settings: tuple[DeclaredSetting, ...] = field(default=())
