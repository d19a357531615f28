"""Each bundled agent of a service has a guide with its evidence, an icon, and a form in both languages."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from parlour.plugin_runtime.packages.bundled import BUNDLED_PLUGINS
from tests.support.harness import ROOT

GUIDES = ROOT / "docs/guide/services"
MAX_LINES = 300
"""What several services need belongs into the base class of the runners."""
EVIDENCE = ("real peer", "vendor SDK", "documented only")
AGENTS = [name for name in BUNDLED_PLUGINS if (GUIDES / f"{name.removesuffix('-agent')}.md").exists()]
DATASETS = [name for name in BUNDLED_PLUGINS if (ROOT / "plugins" / name / "components/knowledge").is_dir()]
LANGUAGES = {"en_US", "zh_Hans"}
TEXT_FIELDS = ("label", "description", "placeholder")


def read(name: str, path: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "plugins" / name / path).read_text())
    return loaded


def texts(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the texts by language in a manifest, each with its place."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in TEXT_FIELDS and isinstance(each, dict):
                yield f"{path}.{key}", each
            else:
                yield from texts(each, f"{path}.{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from texts(each, f"{path}.{each.get('name', number) if isinstance(each, dict) else number}")


def evidence(text: str) -> str:
    """Returns the evidence that a text begins with."""
    return next(each for each in EVIDENCE if " ".join(text.split()).startswith(each))


def test_the_ten_agents_of_services_are_bundled() -> None:
    assert len(AGENTS) >= 10


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_of_a_service_asks_for_the_network(name: str) -> None:
    assert read(name, "manifest.yaml")["spec"]["permissions"]["network"]


@pytest.mark.parametrize("name", DATASETS)
def test_every_connector_of_datasets_is_in_the_guide_and_in_both_languages(name: str) -> None:
    assert f"`parlour/{name}`" in (ROOT / "docs/guide/knowledge.md").read_text(encoding="utf-8")
    for path in ("manifest.yaml", "components/knowledge/datasets.yaml"):
        found = dict(texts(read(name, path)))
        assert found
        assert {place: set(each) for place, each in found.items() if set(each) != LANGUAGES} == {}
    assert (ROOT / "plugins" / name / "icon.svg").read_text().lstrip().startswith("<svg")


@pytest.mark.parametrize("name", AGENTS)
def test_every_text_of_manifest_and_form_is_in_both_languages(name: str) -> None:
    for path in ("manifest.yaml", "components/runners/default.yaml"):
        found = dict(texts(read(name, path)))
        assert found
        assert {place: set(each) for place, each in found.items() if set(each) != LANGUAGES} == {}
        assert all(text.strip() for each in found.values() for text in each.values())
    assert (ROOT / "plugins" / name / "icon.svg").read_text().lstrip().startswith("<svg")


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_of_a_service_is_small(name: str) -> None:
    folder = ROOT / "plugins" / name
    files = [path for path in folder.rglob("*.py") if "tests" not in path.parts]
    assert sum(len(path.read_text().splitlines()) for path in files) <= MAX_LINES


@pytest.mark.parametrize("name", AGENTS)
def test_the_guide_names_evidence_values_and_usage(name: str) -> None:
    slug = name.removesuffix("-agent")
    guide = (GUIDES / f"{slug}.md").read_text()
    assert "## Where do I find these values?" in guide
    row = re.search(rf"^\| \[[^]]+\]\({slug}\.md\).*\| (.+) \|$", (GUIDES / "README.md").read_text(), re.MULTILINE)
    assert row is not None
    stated = guide.partition("Evidence:")[2]
    assert evidence(stated.strip()) == evidence(row[1])
    reports = read(name, "components/runners/default.yaml")["spec"]["capabilities"].get("reports_usage", False)
    assert "**Usage**" in guide
    assert ("so budgets do not count it" in " ".join(guide.split())) is not reports
