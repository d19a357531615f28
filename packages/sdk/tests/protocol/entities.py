"""Finds every entity of the protocol and its golden file."""

import importlib
import json
import pkgutil
import re
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from parlour_sdk import protocol
from parlour_sdk.protocol import base, calls, chain, platform_api, platform_events, results

GOLDEN = Path(__file__).parent / "golden"
SHARED = {
    base.Tolerant,
    base.Request,
    base.Strict,
    results.Telemetry,
    calls.Call,
    calls.RunCall,
    chain.Media,
    platform_events.PlatformEvent,
    platform_events.ChatEvent,
    platform_events.GroupEvent,
    platform_events.HostEvent,
    platform_api.PlatformCall,
    platform_api.MessageCall,
    platform_api.GroupCall,
    platform_api.MemberCall,
}
"""Base classes of entities, which are never sent themselves."""


def _found() -> dict[str, type[BaseModel]]:
    entities: dict[str, type[BaseModel]] = {}
    for module in pkgutil.iter_modules(protocol.__path__, f"{protocol.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, BaseModel) and value.__module__ == module.name:
                assert value.__name__ not in entities, f"two entities are called {value.__name__}"
                entities[value.__name__] = value
    return {name: entity for name, entity in sorted(entities.items()) if entity not in SHARED}


ENTITIES = _found()


def golden_file(name: str) -> Path:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return GOLDEN / f"{words.lower()}.json"


def golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_written(name))
    return found


@cache
def _written(name: str) -> str:
    return golden_file(name).read_text(encoding="utf-8")
