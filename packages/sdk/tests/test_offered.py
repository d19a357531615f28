"""Tests the exports of `parlour_sdk` and its packages: each name can be imported and is known to type checkers."""

import ast
import importlib
from pathlib import Path

import pytest

PACKAGES = ["parlour_sdk", "parlour_sdk.agents", "parlour_sdk.agents.http_agent", "parlour_sdk.components"]


def names_for_type_checkers(package: str) -> set[str]:
    tree = ast.parse(Path(importlib.import_module(package).__file__ or "").read_text())
    [guarded] = [each for each in tree.body if isinstance(each, ast.If)]
    imports = [each for each in guarded.body if isinstance(each, ast.ImportFrom)]
    return {alias.asname or alias.name for each in imports for alias in each.names}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_export_exists_and_is_known_to_type_checkers(package: str) -> None:
    module = importlib.import_module(package)
    exported = {name for names in module.LAZY_EXPORTS.values() for name in names}
    for name in exported:
        assert getattr(module, name) is not None
    assert names_for_type_checkers(package) == exported


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_raises_the_usual_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'no_such_name'"):
        importlib.import_module(package).no_such_name  # noqa: B018
