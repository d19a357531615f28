"""The contract that every runner keeps, as rows that a plugin's tests execute. See docs/plugins/agent-service.md."""

from .contract import ContractRow, contract_rows
from .rigs import RunnerRig, ServiceRig

__all__ = ["ContractRow", "RunnerRig", "ServiceRig", "contract_rows"]
