"""Tests that old import paths of the SDK load the renamed modules with a warning."""

import importlib
import subprocess
import sys

import pytest

from parlour_sdk._renamed import RENAMED_MODULES


@pytest.mark.parametrize("old", sorted(RENAMED_MODULES))
def test_an_old_module_path_loads_the_renamed_module_and_warns(old: str) -> None:
    sys.modules.pop(f"parlour_sdk.{old}", None)
    new = importlib.import_module(f"parlour_sdk.{RENAMED_MODULES[old]}")
    with pytest.warns(DeprecationWarning, match=f"parlour_sdk.{old} is now parlour_sdk.{RENAMED_MODULES[old]}"):
        loaded = importlib.import_module(f"parlour_sdk.{old}")
    assert loaded is new
    assert loaded.__spec__ is not None
    assert loaded.__spec__.name == f"parlour_sdk.{RENAMED_MODULES[old]}"


def test_an_unknown_module_of_the_sdk_is_still_reported_as_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'parlour_sdk\.wire\.no_such_module'"):
        importlib.import_module("parlour_sdk.wire.no_such_module")


def test_new_module_paths_do_not_warn() -> None:
    code = "import parlour_sdk.wire.client, parlour_sdk.plugin.reader"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], timeout=60).returncode == 0
