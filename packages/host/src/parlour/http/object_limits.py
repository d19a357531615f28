"""Limits on the number of configured objects, such as agents."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from parlour.core.journal import Insert

from .errors import Problem

Thing = TypeVar("Thing")
AddThing = Callable[[Thing, Insert], Awaitable[Thing | None]]


class ObjectLimit:
    """Allows at most so many objects of one kind; 0 means any number. Objects that exist already stay."""

    def __init__(self, kind: str, most: int, count: Callable[[], int]) -> None:
        self._kind = kind
        self._most = most
        self._count = count
        self._reserved = 0

    @asynccontextmanager
    async def room_for_one(self, is_new: bool = True) -> AsyncIterator[None]:
        """Checks that one more object fits, and keeps its place until the block ends, without blocking others.

        An object that is counted before its block ends has two places until then, so the limit is never exceeded.
        """
        if is_new and self._most and self._count() + self._reserved >= self._most:
            setting = f"limits.{self._kind}"
            message = f"there are {self._most} {self._kind} already, as many as the setting {setting} allows"
            raise Problem(409, "limit_reached", f"{message}; delete one, or raise the limit", {"limit": self._most})
        self._reserved += is_new
        try:
            yield
        finally:
            self._reserved -= is_new

    def on_add(self, add: AddThing[Thing]) -> AddThing[Thing]:
        """Makes a function that adds an object check the limit."""

        async def add_within_limit(thing: Thing, entry: Insert) -> Thing | None:
            async with self.room_for_one():
                return await add(thing, entry)

        return add_within_limit
