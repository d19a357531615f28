"""Tests that the page has a word in each language for every state that the Host may report."""

import json

import pytest

from .pages import ROOT
from .test_why_words import words

DOCUMENT = ROOT / "packages/host/src/parlour/http/openapi.json"
SHOWN = [
    ("PluginResponse", "status"),
    ("RunnerPlugin", "status"),
    ("BotStatus", "state"),
    ("McpStatus", "state"),
    ("RunResponse", "status"),
    ("DeliveryResponse", "state"),
    ("ApprovalResponse", "status"),
]


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
@pytest.mark.parametrize(("thing", "field"), SHOWN)
def test_every_state_has_a_word(thing: str, field: str, language: str) -> None:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    states = document["components"]["schemas"][thing]["properties"][field]["enum"]

    assert set(states) <= words(language, "state").keys()
