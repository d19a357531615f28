"""Tests that a plugin's process uses uvloop if it is installed, and asyncio's loop otherwise."""

import sys

import pytest
import uvloop

from parlour_sdk import worker


def test_uvloop_is_used_if_it_is_installed() -> None:
    assert worker._loop_factory() is uvloop.new_event_loop


def test_the_asyncio_loop_is_used_without_uvloop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert worker._loop_factory() is None
