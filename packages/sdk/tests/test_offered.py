"""What `parlour_sdk` offers: each name is there when it is asked for, and known to a type checker."""

import ast
import importlib
from pathlib import Path

import pytest

PACKAGES = ["parlour_sdk", "parlour_sdk.components"]


def seen_by_a_type_checker(package: str) -> set[str]:
    tree = ast.parse(Path(importlib.import_module(package).__file__ or "").read_text())
    [guarded] = [each for each in tree.body if isinstance(each, ast.If)]
    imports = [each for each in guarded.body if isinstance(each, ast.ImportFrom)]
    return {alias.asname or alias.name for each in imports for alias in each.names}


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_offered_is_there_and_a_type_checker_knows_it(package: str) -> None:
    module = importlib.import_module(package)
    offered = {name for names in module.LAZY_EXPORTS.values() for name in names}
    for name in offered:
        assert getattr(module, name) is not None
    assert seen_by_a_type_checker(package) == offered


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_not_offered_is_missing_in_the_usual_words(package: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'no_such_name'"):
        importlib.import_module(package).no_such_name  # noqa: B018
