"""Base classes of the entities, which decide how strictly they are validated, and small types that many share.

A nested entity keeps the strictness of its own class. Types are exact in all of them (a number in quotes is no number),
so that the meaning of a message does not depend on its reader.
"""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from .limits import KEY_CHARACTERS, LARGEST_INTEGER

PROTOCOL_VERSION = 1

I18nText = dict[str, str]
"""One text in several languages: `{"en_US": "Hello", "zh_Hans": "你好"}`."""

Key = Annotated[str, StringConstraints(min_length=1, max_length=KEY_CHARACTERS)]
Count = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
Positive = Annotated[int, Field(ge=1, le=LARGEST_INTEGER)]
Milliseconds = Count
"""A point in time: milliseconds since 1970 in UTC."""
Entity = TypeVar("Entity")
Listed = Annotated[list[Entity], Field(fail_fast=True)]
"""A list of entities. Validation stops at the first invalid one: reporting a hundred thousand would take a second."""


class Tolerant(BaseModel):
    """Base of received data, perhaps from a newer side: unknown fields are ignored, wrong types are refused."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, defer_build=True)


class Request(BaseModel):
    """Base of requests, perhaps of a newer side: unknown fields are ignored, wrong types are refused."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, defer_build=True)


class Strict(BaseModel):
    """Base of results with an effect, pages and errors: unknown fields and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def require_one(entity: BaseModel, names: tuple[str, ...]) -> None:
    """Checks that exactly one of the fields is set, for entities that name their alternatives in `ONE_OF`."""
    if sum(getattr(entity, name) is not None for name in names) != 1:
        raise ValueError(f"give exactly one of {', '.join(names[:-1])} and {names[-1]}")
