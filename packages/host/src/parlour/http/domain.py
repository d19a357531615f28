"""A domain of the HTTP interface: its path prefixes and its routes, which are created when they are first needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from fastapi import APIRouter

PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class Domain:
    beginnings: tuple[str, ...]
    """Prefixes of all its paths, such as `/api/v1/agents`. Several domains may share one."""
    routes: Callable[[], "APIRouter"]
    prefix: str = ""
    """Prefix that its routes omit from their paths."""


def below_api(words: str, routes: Callable[[], "APIRouter"]) -> Domain:
    return Domain(tuple(f"{PREFIX}/{word}" for word in words.split()), routes, PREFIX)


def beginning(path: str) -> str:
    """Returns the prefix by which a path is assigned to a domain: `/api/v1/agents` for everything below it, `/metrics`
    for itself."""
    words = 4 if path.startswith(f"{PREFIX}/") else 2
    return "/".join(path.split("/", words)[:words])
