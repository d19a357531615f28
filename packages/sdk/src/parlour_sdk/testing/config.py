"""A configuration as the Host would hand it over: prefilled from the form, and refused where the form would."""

from typing import Any

from parlour_sdk.protocol.form import FormItem

_TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("string", "text", "secret", "select"), (str,)),
    **dict.fromkeys(("llm-model-selector", "rerank-model-selector", "embedding-model-selector"), (str,)),
    **dict.fromkeys(("multi-select", "array[string]", "array[file]"), (list,)),
    **dict.fromkeys(
        ("knowledge-base-multi-selector", "tool-multi-selector", "skill-multi-selector"),
        (list,),
    ),
    **dict.fromkeys(("model-fallback-selector", "file"), (dict,)),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "prompt-editor": (str, list),
}


def filled(form: list[FormItem], config: dict[str, Any]) -> dict[str, Any]:
    """Raises ValueError for what the form does not take; a required item may be missing, tests need not fill all."""
    items = {item.name: item for item in form if not item.display}
    for name, value in config.items():
        if form and name not in items:
            raise ValueError(f"config: '{name}' is unknown; this runner takes {', '.join(items)}")
        if name in items and value is not None:
            _require(items[name], value)
    defaults = {name: item.default for name, item in items.items() if item.default is not None}
    return {**defaults, **{name: value for name, value in config.items() if value is not None}}


def _require(item: FormItem, value: Any) -> None:
    accepted = _TYPES.get(item.type)
    wrong = accepted is not None and not isinstance(value, accepted)
    if wrong or (isinstance(value, bool) and item.type not in ("boolean", "json")):
        raise ValueError(f"config: '{item.name}' must be of type {item.type}, not {type(value).__name__}")
    if isinstance(value, int | float):
        _require_range(item, value)
    allowed = [option.value for option in item.options or []]
    chosen = value if isinstance(value, list) else [value]
    if allowed and any(each not in allowed for each in chosen):
        raise ValueError(f"config: '{item.name}' must be one of {', '.join(allowed)}")


def _require_range(item: FormItem, value: float) -> None:
    if item.minimum is not None and not value >= item.minimum:
        raise ValueError(f"config: '{item.name}' must be at least {item.minimum:.15g}")
    if item.maximum is not None and not value <= item.maximum:
        raise ValueError(f"config: '{item.name}' must be at most {item.maximum:.15g}")
