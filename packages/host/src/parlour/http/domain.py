"""One domain of the interface: where its paths begin, and its routes, which are made when they are first wanted."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from fastapi import APIRouter

PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class Domain:
    beginnings: tuple[str, ...]
    """Of all its paths, such as `/api/v1/agents`. Several domains may share one."""
    routes: Callable[[], "APIRouter"]
    prefix: str = ""
    """What its routes leave out of their paths."""


def below_api(words: str, routes: Callable[[], "APIRouter"]) -> Domain:
    return Domain(tuple(f"{PREFIX}/{word}" for word in words.split()), routes, PREFIX)


def beginning(path: str) -> str:
    """`/api/v1/agents` of whatever lies below it, `/metrics` of itself."""
    words = 4 if path.startswith(f"{PREFIX}/") else 2
    return "/".join(path.split("/", words)[:words])
