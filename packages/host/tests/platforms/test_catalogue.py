"""Platforms are listed by their manifests; their code is loaded when a bot needs it."""

import subprocess
import sys

import pytest

from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.testing.fake_platform import FakeCatalogue, FakePlatform, manifest
from parlour.testing.fake_platform.api import FakeApi
from parlour.testing.memory_link import MemoryLink
from parlour.testing.platform_surface import APIS, implemented


def test_every_manifest_is_under_its_own_name() -> None:
    manifests = BuiltinAdapterCatalogue().manifests()
    assert "onebot11" in manifests
    assert all(manifest.name == name for name, manifest in manifests.items())


def test_an_unknown_platform_is_not_found() -> None:
    with pytest.raises(KeyError):
        BuiltinAdapterCatalogue().create("nosuch", MemoryLink())


def test_address_fields_are_items_of_the_form() -> None:
    for name, found in BuiltinAdapterCatalogue().manifests().items():
        assert set(found.address_fields) <= {item.name for item in found.config if item.type == "string"}
        assert found.address_fields, f"{name} sends its secrets somewhere"


def test_the_code_of_a_platform_is_not_loaded_for_its_manifest() -> None:
    code = (
        "import sys; from parlour.platforms.catalogue import BuiltinAdapterCatalogue as Catalogue;"
        "Catalogue().manifests();"
        "own = tuple(f'parlour.platforms.{name}' for name in Catalogue().manifests());"
        "sys.exit(any(name.startswith((*own, 'websockets', 'aiohttp')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_the_fake_platform_declares_exactly_what_it_implements() -> None:
    assert set(manifest().supported_apis) == implemented(FakeApi) == set(APIS)


async def test_the_fake_platform_is_listed_with_the_other_platforms() -> None:
    catalogue = FakeCatalogue(FakePlatform(), beside=BuiltinAdapterCatalogue())
    assert {"fake", "onebot11"} <= set(catalogue.manifests())
    assert catalogue.create("onebot11", MemoryLink({"mode": "reverse"})) is not None


async def test_two_hosts_in_one_process_share_nothing() -> None:
    first, second = BuiltinAdapterCatalogue(), BuiltinAdapterCatalogue()
    link = MemoryLink({"mode": "reverse"})
    own, other = (catalogue.create("onebot11", link)._connected for catalogue in (first, second))  # type: ignore[attr-defined]
    assert own is first.create("onebot11", link)._connected  # type: ignore[attr-defined]
    assert own is not other
