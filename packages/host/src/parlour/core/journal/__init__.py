"""Units of work: what the core asks a database to do, as values. Knows no SQL and no driver."""

from .draft import Draft
from .errors import GuardFailed, StorageFailed
from .port import Journal, Receipt, resolved
from .query import Search, Select
from .schema import Column, Table
from .statements import (
    ANY,
    Condition,
    Delete,
    Increment,
    Insert,
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
    holding,
    one_of,
    other_than,
    starting,
    where,
)

__all__ = [
    "ANY",
    "Column",
    "Condition",
    "Delete",
    "Draft",
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
    "Update",
    "Upsert",
    "Value",
    "above",
    "at_least",
    "at_most",
    "below",
    "holding",
    "one_of",
    "other_than",
    "resolved",
    "starting",
    "where",
]
