"""The settings of the Dify runner."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from parlour_sdk.agents import http_agent as http


class DifyConfig(http.HttpAgentConfig):
    base_url: Annotated[http.ServiceAddress, AfterValidator(http.default_path("/v1"))]
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
