"""Defines units of work as values, and the port that commits them. It depends on no SQL and no driver."""

from .errors import UNCERTAIN_CODE, GuardFailed, StorageFailed
from .port import Journal, resolve_ref
from .query import Search, Select
from .retry import retry_on_storage_failure
from .schema import Column, Table
from .statements import (
    ANY,
    Condition,
    Delete,
    Increment,
    Insert,
    Receipt,
    Ref,
    Row,
    Statement,
    Unit,
    Update,
    Upsert,
    Value,
    above,
    at_least,
    at_most,
    below,
    contains,
    one_of,
    other_than,
    starts_with,
    where,
)
from .unit_builder import UnitBuilder

__all__ = [
    "ANY",
    "UNCERTAIN_CODE",
    "Column",
    "Condition",
    "Delete",
    "GuardFailed",
    "Increment",
    "Insert",
    "Journal",
    "Receipt",
    "Ref",
    "Row",
    "Search",
    "Select",
    "Statement",
    "StorageFailed",
    "Table",
    "Unit",
    "UnitBuilder",
    "Update",
    "Upsert",
    "Value",
    "above",
    "at_least",
    "at_most",
    "below",
    "contains",
    "one_of",
    "other_than",
    "resolve_ref",
    "retry_on_storage_failure",
    "starts_with",
    "where",
]
