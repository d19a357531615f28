"""Arguments of tool calls: JSON on the way, values here."""

from typing import Any

from parlour.core.encoding import dumps, loads


def parsed(text: str) -> Any:
    """What is no JSON stays a text: whoever runs the tool tells the model so."""
    if not text.strip():
        return {}
    try:
        return loads(text)
    except ValueError:
        return text


def written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments)


def as_object(arguments: Any) -> dict[str, Any]:
    """For services that take nothing but an object."""
    value = parsed(arguments) if isinstance(arguments, str) else arguments
    return value if isinstance(value, dict) else {} if value is None else {"input": value}
