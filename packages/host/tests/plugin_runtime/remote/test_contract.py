"""Paths, versions and errors between a Host and a runtime of its own."""

import pytest

from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour.plugin_runtime.remote.messages import (
    from_wire_error,
    plugin_id_from_path,
    plugin_path,
    protocol_mismatch_text,
    to_wire_error,
)
from parlour_sdk.wire import WireError


@pytest.mark.parametrize("plugin_id", ["acme/hello", "a-b_c.d/e", "größe/日本"])
def test_a_plugins_path_names_it(plugin_id: str) -> None:
    assert plugin_path(plugin_id).isascii()
    assert plugin_id_from_path(plugin_path(plugin_id)) == plugin_id


@pytest.mark.parametrize("path", ["", "/", "/control", "/plugins/", "/plugins/a", "/plugins/a/", "/plugins//b", "/a/b"])
def test_other_paths_name_no_plugin(path: str) -> None:
    assert plugin_id_from_path(path) is None


@pytest.mark.parametrize("path", ["/plugins/a/b/c", "/plugins/a%2Fb/c", "/plugins/a/b%2Fc"])
def test_no_path_names_a_plugin_in_more_parts_than_two(path: str) -> None:
    assert plugin_id_from_path(path) is None


def test_the_older_side_is_the_one_to_update() -> None:
    assert protocol_mismatch_text(1, 2).endswith("update Parlour where the Host runs")
    assert protocol_mismatch_text(2, 1).endswith("update Parlour where the plugin runtime runs")


@pytest.mark.parametrize(
    "error", [PluginDisconnected("gone"), PluginUnavailable("away"), PluginCallFailed("no.such", "what?")]
)
def test_the_reason_of_a_failed_run_survives_the_transport(
    error: PluginDisconnected | PluginUnavailable | PluginCallFailed,
) -> None:
    back = from_wire_error(to_wire_error(error))

    assert (type(back), str(back), back.code) == (type(error), str(error), error.code)


def test_an_unknown_error_code_becomes_a_failed_plugin_call() -> None:
    back = from_wire_error(WireError("rate_limited", "too many", ["odd"]))

    assert isinstance(back, PluginCallFailed)
    assert (back.code, str(back)) == ("rate_limited", "too many")
