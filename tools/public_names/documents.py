"""Describes the settings, the HTTP interface with every reference resolved, and the files of the protocol."""

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from parlour.app.settings import HostSettings
from parlour.http import openapi

PROTOCOL = (
    Path("docs/protocol/schema.json"),
    Path("packages/host/src/parlour/stores/migrations/schema.sql"),
)
GOLDEN = Path("packages/sdk/tests/protocol")


def settings() -> list[str]:
    return sorted(_fields(HostSettings, ""))


def _fields(model: type[BaseModel], prefix: str) -> list[str]:
    fields: list[str] = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            fields += _fields(field.annotation, f"{prefix}{name}.")
        else:
            fields.append(f"{prefix}{name} = {field.get_default(call_default_factory=True)!r}")
    return fields


def digests() -> dict[str, str]:
    golden = hashlib.sha256()
    for path in sorted(path for path in GOLDEN.rglob("*") if path.suffix in {".json", ".yaml"}):
        golden.update(str(path).encode() + path.read_bytes())
    single = {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in PROTOCOL}
    return {**single, str(GOLDEN): golden.hexdigest()}


def http_operations() -> dict[str, str]:
    document = json.loads(openapi.FILE.read_text(encoding="utf-8"))
    return {
        f"{method.upper()} {path}": _digest(_resolved(operation, document, ()))
        for path, item in document["paths"].items()
        for method, operation in item.items()
    }


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def _resolved(value: Any, document: dict[str, Any], path: tuple[str, ...]) -> Any:
    """Replaces every `$ref` by its definition; a recursive reference stays."""
    if isinstance(value, list):
        return [_resolved(each, document, path) for each in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if reference is None:
        return {key: _resolved(each, document, path) for key, each in value.items() if key != "title"}
    if reference in path:
        return {"itself": len(path) - path.index(reference)}
    target = document
    for part in reference.removeprefix("#/").split("/"):
        target = target[part]
    return _resolved(target, document, (*path, reference))
