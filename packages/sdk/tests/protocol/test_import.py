"""Tests that importing the protocol is cheap: entities are built at their first use, not at import."""

import json
import subprocess
import sys

READY = """
import importlib, json, pkgutil
from pydantic import BaseModel
from parlour_sdk import protocol

found = pkgutil.iter_modules(protocol.__path__, "parlour_sdk.protocol.")
modules = [importlib.import_module(each.name) for each in found]
named = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
entities = [each for each in named if issubclass(each, BaseModel) and each.__module__.startswith("parlour_sdk")]
print(json.dumps([len(entities), sorted(each.__name__ for each in entities if each.__pydantic_complete__)]))
"""
LOADED = """
import json, sys
import parlour_sdk.protocol.context, parlour_sdk.protocol.results
print(json.dumps([name.rpartition(".")[2] for name in sys.modules if name.startswith("parlour_sdk.protocol.")]))
"""


def _output_of(code: str) -> list[object]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    found: list[object] = json.loads(done.stdout)
    return found


def test_no_entity_is_built_before_it_is_used() -> None:
    """A default value that is an entity would build that entity and all its parts during the import."""
    count, ready = _output_of(READY)
    assert isinstance(count, int)
    assert count > 250
    assert ready == []


def test_a_run_loads_only_the_modules_that_it_needs() -> None:
    modules = {"context", "events", "content", "messages", "resources", "results", "usage"}
    assert set(_output_of(LOADED)) == modules | {"base", "limits", "state", "calls"}
