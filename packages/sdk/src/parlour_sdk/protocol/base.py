"""The temperaments of an entity, and the small types that many share.

A temperament is an entity's own: what stands inside another entity keeps its own. Types are exact in all of them (a
number in quotes is no number), so that what two sides agree on does not depend on who happens to read it.
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
"""A moment: milliseconds since 1970 in UTC."""
Entity = TypeVar("Entity")
Listed = Annotated[list[Entity], Field(fail_fast=True)]
"""Entities in a row. The first broken one is blamed for all: to tell of a hundred thousand would take a second."""


class Tolerant(BaseModel):
    """Received, perhaps from a newer side: unknown fields are passed over, values of another type are refused."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, defer_build=True)


class Request(BaseModel):
    """Asked, perhaps by a newer side: unknown fields are passed over, values of another type are refused."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, defer_build=True)


class Strict(BaseModel):
    """Has an effect, or is a page or an error: unknown fields and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


def require_one(entity: BaseModel, names: tuple[str, ...]) -> None:
    """Of entities that name their alternatives in `ONE_OF`."""
    if sum(getattr(entity, name) is not None for name in names) != 1:
        raise ValueError(f"give exactly one of {', '.join(names[:-1])} and {names[-1]}")
