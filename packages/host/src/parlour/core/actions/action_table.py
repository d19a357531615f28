"""Every Host action, one row each, as the contract has it. An action without a row does not exist."""

from parlour_sdk.protocol.access import ACTIONS, Action

__all__ = ["ACTIONS", "Action"]
