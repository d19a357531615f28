"""The two temperaments of an entity: what a runner receives is tolerant, what it sends is strict."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

PROTOCOL_VERSION = 1

I18nText = dict[str, str]
"""One text in several languages: `{"en_US": "Hello", "zh_Hans": "你好"}`."""

Key = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Milliseconds = Annotated[int, Field(ge=0)]


class Tolerant(BaseModel):
    """Received from a newer Host: unknown fields are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class Strict(BaseModel):
    """Has an effect in the Host: unknown fields and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)
