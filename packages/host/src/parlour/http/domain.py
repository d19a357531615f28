"""A domain of the HTTP interface: its path prefixes and its routes, which are created when they are first needed."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from fastapi import APIRouter

API_PREFIX = "/api/v1"


@dataclass(frozen=True, slots=True)
class Domain:
    path_prefixes: tuple[str, ...]
    """Prefixes of all its paths, such as `/api/v1/agents`. Several domains may share one."""
    build_router: Callable[[], "APIRouter"]
    prefix: str = ""
    """Prefix that its routes omit from their paths."""


def api_domain(words: str, routes: Callable[[], "APIRouter"]) -> Domain:
    return Domain(tuple(f"{API_PREFIX}/{word}" for word in words.split()), routes, API_PREFIX)


def path_prefix(path: str) -> str:
    """Returns the prefix by which a path is assigned to a domain: `/api/v1/agents` for everything below it, `/metrics`
    for itself."""
    words = 4 if path.startswith(f"{API_PREFIX}/") else 2
    return "/".join(path.split("/", words)[:words])
