"""Converts the arguments of tool calls between JSON and values."""

from typing import Any

from parlour.core.encoding import dumps, loads


def parse_arguments(text: str) -> Any:
    """Parses arguments. Invalid JSON stays a string: running the tool then reports it to the model."""
    if not text.strip():
        return {}
    try:
        return loads(text)
    except ValueError:
        return text


def serialize_arguments(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else dumps({} if arguments is None else arguments)


def as_object(arguments: Any) -> dict[str, Any]:
    """Returns the arguments as an object, for services that accept nothing else."""
    value = parse_arguments(arguments) if isinstance(arguments, str) else arguments
    return value if isinstance(value, dict) else {} if value is None else {"input": value}
