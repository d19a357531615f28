"""Every entity that the protocol has now, found rather than listed, and its golden file."""

import importlib
import json
import pkgutil
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from parlour_sdk import protocol
from parlour_sdk.protocol.base import Strict, Tolerant
from parlour_sdk.protocol.results import Telemetry
from parlour_sdk.protocol.run_api import RunCall

GOLDEN = Path(__file__).parent / "golden"
_BASES = {BaseModel, Strict, Tolerant, Telemetry, RunCall}


def _found() -> dict[str, type[BaseModel]]:
    entities: dict[str, type[BaseModel]] = {}
    for module in pkgutil.iter_modules(protocol.__path__):
        for value in vars(importlib.import_module(f"{protocol.__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value not in _BASES:
                entities[value.__name__] = value
    return dict(sorted(entities.items()))


ENTITIES = _found()
STRICT = {name: entity for name, entity in ENTITIES.items() if issubclass(entity, Strict)}
TOLERANT = {name: entity for name, entity in ENTITIES.items() if issubclass(entity, Tolerant)}


def golden_file(name: str) -> Path:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return GOLDEN / f"{words.lower()}.json"


def golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(golden_file(name).read_text(encoding="utf-8"))
    return found
