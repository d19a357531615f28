"""The settings of the Dify runner."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from parlour_sdk.agents import http_agent as http

API_PATH = "/v1"


def _with_api_path(address: str) -> str:
    """Adds the path of the API to an address that has none."""
    return address if urlsplit(address).path.strip("/") else f"{address}{API_PATH}"


class DifyConfig(http.HttpAgentConfig):
    base_url: Annotated[http.ServiceAddress, AfterValidator(_with_api_path)]
    app_type: Literal["chat", "agent", "chatflow", "workflow"] = "chat"
    inputs: dict[str, Any] = Field(default_factory=dict)
    query_variable: str = "query"
    files_variable: str = ""
    output_key: str = ""
    base_prompt: str = ""
    suggestions: bool = False

    @property
    def is_workflow(self) -> bool:
        return self.app_type == "workflow"
