"""Re-exports the protocol's table of Host actions, one row each. An action without a row does not exist."""

from parlour_sdk.protocol.access import ACTIONS, Action

__all__ = ["ACTIONS", "Action"]
