"""Turns refusals of the account service into HTTP errors that name the field."""

from collections.abc import Awaitable
from typing import TypeVar

from parlour.core.access.users import UserRefused

from ..errors import Problem, invalid

Answer = TypeVar("Answer")


async def accepted(work: Awaitable[Answer]) -> Answer:
    try:
        return await work
    except UserRefused as refusal:
        if not refusal.field:
            raise Problem(409, "conflict", refusal.message) from refusal
        raise invalid(refusal.field, refusal.message) from refusal
