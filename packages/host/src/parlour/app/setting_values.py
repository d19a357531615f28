"""Types of setting values: what is read from the environment, and what a change at run time may set."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from .time_zone import is_zone

LISTEN_PATTERN = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):(?P<port>\d{1,5})")
"""Pattern of an address to listen on."""
CURRENCY = r"^([A-Z]{3})?$"
"""Pattern of an ISO 4217 code, or empty."""
CURRENCY_MESSAGE = "must be a code of three capital letters such as EUR, or empty"


def _split_list(value: Any) -> Any:
    """Splits a string at its commas: in the environment a list is written that way."""
    return [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value


def _false_to_off(value: Any) -> Any:
    """Turns false into "off", since YAML reads a plain `off` as false."""
    return "off" if value is False else value


def _require_zone(name: str) -> str:
    if not is_zone(name):
        raise PydanticCustomError("time_zone", "must be a time zone such as Europe/Berlin or UTC")
    return name


COMMA_LIST = BeforeValidator(_split_list)
FALSE_MEANS_OFF = BeforeValidator(_false_to_off)
EXISTING_ZONE = AfterValidator(_require_zone)

NewDays = Annotated[float, Field(ge=0, le=36_500, description="0: for ever")]
NewCount = Annotated[int, Field(ge=1, le=100_000)]
NewRate = Annotated[int, Field(ge=0, le=100_000, description="0: no limit")]
NewTimeZone = Annotated[str, Field(max_length=64), EXISTING_ZONE]
NewAddresses = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)]
NewPrefixes = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=10, pattern=r"^\S+$")]], Field(min_length=1, max_length=10)
]
COMMAND_ROLE = r"^/?[^\s:,]+:(everyone|admin|owner|off)$"
NewCommandRoles = Annotated[list[Annotated[str, Field(max_length=200, pattern=COMMAND_ROLE)]], Field(max_length=100)]
NewCurrency = Annotated[str, Field(pattern=CURRENCY, description="Empty: that of the providers")]
