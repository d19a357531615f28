"""A plugin's process runs on uvloop where that is installed, and on the loop of Python where it is not."""

import sys

import pytest
import uvloop

from parlour_sdk import worker


def test_it_is_uvloop_where_there_is_one() -> None:
    assert worker._loop_factory() is uvloop.new_event_loop


def test_it_is_pythons_own_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert worker._loop_factory() is None
