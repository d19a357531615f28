"""Tests for whom tokens of the gateway count."""

import pytest

from parlour.core.actions.gateway import GatewayTokens, TokenUse
from parlour.core.errors import CallRejected
from parlour.core.model.ids import PluginId, RunId
from parlour.core.redaction import Redactor
from parlour.core.runs.session_registry import RunSessions

OWNER, OTHER = PluginId("made/owner"), PluginId("made/other")


def test_a_refused_plugin_does_not_take_the_token_of_another() -> None:
    tokens = GatewayTokens(RunSessions(lambda rows: None), Redactor())
    token = tokens.open(TokenUse(OWNER, RunId("first")), None)
    with pytest.raises(CallRejected):
        tokens.open(TokenUse(OTHER, RunId("stolen")), token)
    assert tokens.open(TokenUse(OWNER, RunId("second")), token) == token
