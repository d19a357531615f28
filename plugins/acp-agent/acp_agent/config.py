"""The configuration of an agent, as the operator's form has it."""

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from .errors import HarnessFailed

PermissionMode = Literal["ask", "allow_reads", "allow_all", "deny_all"]
REFUSED_ARGUMENTS = {
    *("-p", "--print", "--prompt", "-i", "--prompt-interactive", "--input-format", "--output-format", "--mcp-config"),
    *("--resume", "--session", "--continue", "--dangerously-skip-permissions", "--yolo", "-y", "--auto", "--allow-all"),
    *("--approval-mode", "--sandbox", "--dangerously-bypass-approvals-and-sandbox"),
}
"""Arguments that break the protocol, or that widen what a harness may do without saying so in the form."""


class HarnessConfig(BaseModel):
    model_config = ConfigDict(extra="ignore")

    harness: str = "claude-code"
    model: str = ""
    base_url: str = ""
    api_key: SecretStr = SecretStr("")
    permissions: PermissionMode = "ask"
    allow_always: bool = False
    use_host: bool = False
    workspace: str = ""
    command: str = ""
    arguments: list[str] = []
    environment: dict[str, str] = {}
    secret_environment: SecretStr = SecretStr("")
    mode: str = ""
    auth_method: str = ""
    start_seconds: float = Field(default=60, ge=1, le=600)
    cancel_seconds: float = Field(default=10, ge=0.1, le=60)
    idle_seconds: float = Field(default=300, ge=0, le=86400)
    at_once: int = Field(default=4, ge=1, le=64)

    @field_validator("environment", mode="before")
    @classmethod
    def _read_environment(cls, value: Any) -> Any:
        return {} if value in (None, "") else value

    @field_validator("arguments")
    @classmethod
    def _refuse_arguments(cls, value: list[str]) -> list[str]:
        for argument in value:
            if argument.partition("=")[0] in REFUSED_ARGUMENTS:
                raise ValueError(f"{argument.partition('=')[0]} can't be set here")
        return value

    def secret_variables(self) -> dict[str, str]:
        """Returns the further variables with secrets, a JSON object of texts."""
        text = self.secret_environment.get_secret_value()
        try:
            variables = json.loads(text) if text.strip() else {}
        except ValueError:
            variables = None
        if not isinstance(variables, dict) or not all(isinstance(each, str) for each in variables.values()):
            raise HarnessFailed("acp.config", 'secret_environment: write a JSON object such as {"TOKEN": "..."}')
        return variables


def read_config(values: dict[str, Any]) -> HarnessConfig:
    """Reads the configuration of an agent. Raises HarnessFailed."""
    try:
        return HarnessConfig.model_validate({key: value for key, value in values.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise HarnessFailed("acp.config", f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
