"""Tests the harmless parts of the chaos agent: its form, its loading and its invalid results.

Behaviours that kill, flood, hoard or reach out are tested in a sandbox only: tests/chaos.
"""

import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from parlour_sdk.plugin import load, read_plugin
from parlour_sdk.testing import FakeHost

FOLDER = Path(__file__).parents[1]


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


@pytest.fixture
def form() -> dict[str, Any]:
    [behaviour, _] = yaml.safe_load((FOLDER / "components/runners/default.yaml").read_text())["spec"]["config_schema"]
    return dict(behaviour)


def test_its_form_offers_every_behaviour_and_by_default_a_harmless_one(form: dict[str, Any]) -> None:
    load(read_plugin(FOLDER))

    assert {option["value"] for option in form["options"]} == set(sys.modules["behaviours"].BEHAVIOURS)
    assert form["default"] == "normal"


async def test_by_default_it_answers_with_the_text_of_the_message(host: FakeHost) -> None:
    run = await host.run(FOLDER, "hello")

    assert (run.text, run.deltas) == ("hello", ["hello"])


async def test_its_invalid_results_are_invalid_and_its_answer_is_not(host: FakeHost) -> None:
    run = await host.run(FOLDER, "hello", config={"behaviour": "invalid_results"})

    assert run.text == "after all that, an answer"
    assert len(run.warnings) >= 6
