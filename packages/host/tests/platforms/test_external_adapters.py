"""Adapters of other packages are loaded only if the settings name them, and their problems are reported."""

import sys
from pathlib import Path

import pytest

from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.testing.memory_link import MemoryLink

MANIFEST = """
name: {name}
label: {{en_US: Toy}}
description: {{en_US: A toy}}
modes: {{only: {{label: {{en_US: Only}}}}}}
connects_out: [only]
supported_events: []
supported_apis: []
components: {{receive: [], send: []}}
"""
ADAPTER = """
class ExternalToyAdapter:
    def __init__(self, link): self.link = link
def adapter_factory(): return ExternalToyAdapter
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def install(packages: Path, name: str, package: str, manifest: str | None = None) -> None:
    """Installs a package with an adapter, as a package manager would."""
    (packages / package).mkdir()
    (packages / package / "__init__.py").touch()
    (packages / package / "adapter.py").write_text(ADAPTER)
    if manifest is None:
        manifest = MANIFEST.format(name=name)
    if manifest:
        (packages / package / "manifest.yaml").write_text(manifest)
    info = packages / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[parlour.platforms]\n{name} = {package}\n")


def test_a_named_adapter_is_listed_as_external_and_created(packages: Path) -> None:
    install(packages, "toychat", "toychat_adapter")
    catalogue = BuiltinAdapterCatalogue(["toychat"])
    manifests = catalogue.manifests()
    assert manifests["toychat"].external
    assert [item.name for item in manifests["toychat"].config] == ["proxy", "proxy_password"]
    assert not manifests["telegram"].external
    assert type(catalogue.create("toychat", MemoryLink())).__name__ == "ExternalToyAdapter"
    assert catalogue.config_problems("toychat", {"proxy": "x"}) != []
    assert catalogue.external_problems() == ()


def test_an_adapter_that_is_not_named_is_not_loaded(packages: Path) -> None:
    install(packages, "quietchat", "quietchat_adapter")
    assert "quietchat" not in BuiltinAdapterCatalogue().manifests()
    assert "quietchat_adapter" not in sys.modules


@pytest.mark.parametrize(
    ("name", "manifest", "problem"),
    [
        ("missing", "-", "no installed package"),
        ("telegram", None, "part of Parlour"),
        ("nomanifest", "", "not a package with a manifest.yaml"),
        ("othername", MANIFEST.format(name="another"), "is for 'another'"),
        ("broken", "name: [", "can't be used"),
        ("wrong", "name: wrong", "can't be used"),
    ],
)
def test_an_adapter_that_cannot_be_loaded_is_reported_and_leaves_the_others(
    packages: Path, name: str, manifest: str | None, problem: str
) -> None:
    if manifest != "-":
        install(packages, name, f"{name}_package", manifest)
    catalogue = BuiltinAdapterCatalogue([name])
    assert set(catalogue.manifests()) == set(BuiltinAdapterCatalogue().manifests())
    [message] = catalogue.external_problems()
    assert message.startswith(f"platforms.external names '{name}': ")
    assert problem in message


def test_two_packages_for_one_platform_are_refused(packages: Path) -> None:
    install(packages, "twice", "twice_one")
    install(packages, "twice", "twice_two")
    [message] = BuiltinAdapterCatalogue(["twice"]).external_problems()
    assert "twice_one, twice_two" in message


class PackagesSearched(Exception):
    """Raised by the search of this test."""


def test_nothing_is_searched_while_the_list_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def search(**options: str) -> None:
        raise PackagesSearched

    monkeypatch.setattr("importlib.metadata.entry_points", search)
    assert {"matrix", "onebot11", "telegram"} <= set(BuiltinAdapterCatalogue().manifests())
    assert BuiltinAdapterCatalogue([]).external_problems() == ()
    with pytest.raises(PackagesSearched):
        BuiltinAdapterCatalogue(["toychat"]).manifests()
