"""Builds a configuration as the Host would: with the form's defaults, and validated by the form."""

from typing import Any

from parlour_sdk.plugin.forms import value_problem
from parlour_sdk.protocol.form import FormItem


def fill_in_defaults(form: list[FormItem], config: dict[str, Any], whose: str = "runner") -> dict[str, Any]:
    """Adds the form's defaults. Raises ValueError for invalid values; a test may leave out required items."""
    items = {item.name: item for item in form if not item.display}
    for name, value in config.items():
        if form and name not in items:
            raise ValueError(f"config: '{name}' is unknown; this {whose} takes {', '.join(items)}")
        if name in items and value is not None:
            _require(items[name], value)
    defaults = {name: item.default for name, item in items.items() if item.default is not None}
    return {**defaults, **{name: value for name, value in config.items() if value is not None}}


def _require(item: FormItem, value: Any) -> None:
    reason = value_problem(item, value)
    if reason:
        raise ValueError(f"config: '{item.name}' {reason}")
