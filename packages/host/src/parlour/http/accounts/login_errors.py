"""Turns refusals of the account service into HTTP errors that name the field."""

from collections.abc import Awaitable
from typing import TypeVar

from parlour.core.access.users import AccountChangeRefused

from ..errors import Problem, invalid_field

Answer = TypeVar("Answer")


async def raise_problem_if_refused(work: Awaitable[Answer]) -> Answer:
    try:
        return await work
    except AccountChangeRefused as refusal:
        if not refusal.field:
            raise Problem(409, "conflict", refusal.message) from refusal
        raise invalid_field(refusal.field, refusal.message) from refusal
