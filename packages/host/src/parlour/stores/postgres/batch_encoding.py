"""Encodes statements and queries as steps of a batch, in JSON.

Functions on the server execute them; see `functions`.
"""

from base64 import b64decode, b64encode
from functools import cache
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from parlour.core.journal import Receipt, Ref, Row, StorageFailed, Table
from parlour.stores.sql import CompiledStatement, Parameters, SqlDialect, StatementPlan

from .text_encoding import decode_text, encode_text

LOWEST, HIGHEST = -(2**63), 2**63 - 1


def _argument(position: int, value_type: type) -> str:
    text = f"($1 ->> {position - 1})"
    if issubclass(value_type, bool):
        return f"{text}::boolean::int::bigint"
    if issubclass(value_type, int):
        return f"{text}::bigint"
    return f"decode({text}, 'base64')" if issubclass(value_type, bytes) else text


BATCH_DIALECT = SqlDialect(placeholder=_argument, counter_value="$2")


class BatchEncoder:
    """Numbers the shapes. The numbers are valid as long as the journal, on every connection it opens."""

    def __init__(self) -> None:
        self._numbers: dict[StatementPlan, int] = {}

    def encode_unit(self, steps: list[CompiledStatement]) -> tuple[list[int], str]:
        """Returns the numbers of its steps, and the unit as `carry_out.sql` expects it. Raises StorageFailed."""
        numbers = [self._number(plan) for plan, _, _ in steps]
        text = _json([_encode_step(number, step, steps) for number, step in zip(numbers, steps, strict=True)])
        if _may_need_encoding(text):
            steps = [(plan, tuple(map(encode_text, parameters)), expect) for plan, parameters, expect in steps]
            text = _json([_encode_step(number, step, steps) for number, step in zip(numbers, steps, strict=True)])
        return numbers, text

    def encode_query(self, plan: StatementPlan, parameters: Parameters) -> tuple[int, str]:
        """Returns the number of its step, and the query as `answer.sql` expects it. Raises StorageFailed."""
        number = self._number(plan)
        text = _json(_encode_step(number, (plan, parameters, None), [])[:2])
        if _may_need_encoding(text):
            text = _json(_encode_step(number, (plan, tuple(map(encode_text, parameters)), None), [])[:2])
        return number, text

    def _number(self, plan: StatementPlan) -> int:
        return self._numbers.setdefault(plan, len(self._numbers) + 1)


@cache
def blob_columns(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.columns if column.kind == "blob")


def decode_receipt(plans: list[StatementPlan], rows_by_step: list[list[list[Any]]]) -> Receipt:
    return [decode_rows(plan, each) for plan, each in zip(plans, rows_by_step, strict=True)]


def decode_rows(plan: StatementPlan, values_by_row: list[list[Any]]) -> list[Row]:
    return [_row(plan, values) for values in values_by_row] if plan.columns else []


def _encode_step(number: int, step: CompiledStatement, steps: list[CompiledStatement]) -> list[Any]:
    plan, parameters, expect = step
    references: list[list[Any]] = []
    arguments = list(parameters)
    for position, value in enumerate(parameters):
        if isinstance(value, int):
            if not LOWEST <= value <= HIGHEST:
                raise StorageFailed("storage_failed", f"The number {value} does not fit into 64 bits.")
        elif isinstance(value, bytes):
            arguments[position] = b64encode(value).decode()
        elif type(value) is Ref:
            column = steps[value.statement][0].columns.index(value.column)
            references.append([str(position), value.statement, column])
            arguments[position] = None
    return [number, arguments, expect, plan.table.name if plan.uses_counter else None, *references]


def _json(value: list[Any]) -> str:
    try:
        return to_json(value).decode()
    except PydanticSerializationError as error:
        raise StorageFailed("storage_failed", "A text holds half a surrogate pair, which is no character.") from error


def _may_need_encoding(text: str) -> bool:
    """Returns whether the text may have a character that PostgreSQL can't store."""
    return "\\u000" in text


def _row(plan: StatementPlan, values: list[Any]) -> Row:
    row = dict(zip(plan.columns, map(decode_text, values), strict=False))  # a number that was used comes after them
    for name in blob_columns(plan.table):
        if name in row:
            row[name] = b64decode(row[name])
    return row
