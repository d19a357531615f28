"""Resolves a future with a result or an exception."""

from asyncio import Future
from typing import TypeVar

Answer = TypeVar("Answer")


def resolve(future: "Future[Answer]", outcome: Answer | Exception) -> None:
    if future.done():  # the waiting caller was cancelled
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
