"""The settings of the Box."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from parlour.core.box.messages import BackendSetting, QuotaSetting
from parlour.core.box.session_template import find_problem

from .setting_values import COMMA_LIST, LISTEN_PATTERN


def _check_template(template: str) -> str:
    problem = find_problem(template) if template else ""
    if problem:
        raise PydanticCustomError("session_template", problem)
    return template


class BoxLocalSettings(BaseModel):
    """Settings of a Box beside the Host."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    image: str = Field(default="docker.io/library/python:3.13-slim", min_length=1, max_length=300)
    """Image of the containers of podman and docker, with Python 3.10 or newer."""
    host_root: Path | None = None
    """Folder of the workspaces; by default `box/workspaces` in the data directory."""
    skills_root: Path | None = None
    """Folder of the unpacked skills; by default `box/skills` in the data directory."""
    wheels: Path | None = None
    """Folder with wheels that skills may install without a network; by default `box/wheels` in the data directory."""
    allowed_mount_roots: Annotated[list[Path], COMMA_LIST] = []
    """Folders below which sandboxes may show files of this machine, read-only."""
    workspace_quota_mb: int = Field(default=1024, ge=1)
    """Maximum size of a workspace in MiB."""
    quota: QuotaSetting = "auto"
    """auto: the kernel limits workspaces where it can; advisory: workspaces are folders whose size is watched."""


class E2bSettings(BaseModel):
    """Settings of the account at E2B, whose sandboxes are used with the backend e2b."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    api_key: SecretStr = SecretStr("")
    api_url: str = Field(default="", pattern=r"^(https?://\S+)?$", max_length=500)
    """Address of a service with the interface of E2B; empty for E2B itself."""
    sandbox_url: str = Field(default="", pattern=r"^(https?://\S+)?$", max_length=500)
    """Address of the sandboxes of such a service, if it does not name them."""
    template: str = Field(default="", max_length=200)
    """Template of sandboxes, with Python 3.10 or newer; empty for that of the service."""


class BoxSettings(BaseModel):
    """Settings of the Box, in which agents run commands."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    enabled: bool = True
    """False if no agent may use the Box, whatever its policy is."""
    endpoint: str = ""
    """Address of a Box elsewhere, such as wss://box.example.org; empty for a Box beside the Host."""
    token: SecretStr = SecretStr("")
    token_file: Path | None = None
    listen: str = "127.0.0.1:5410"
    """Address on which `parlour box` listens for a Host."""
    backend: BackendSetting = "auto"
    """What makes sandboxes; auto: the first of bubblewrap, podman, docker, nsjail and e2b that works."""
    force_template: Annotated[str, AfterValidator(_check_template)] = ""
    """Session template for all agents, instead of their own."""
    idle_seconds: float = Field(default=300, ge=1, le=86_400)
    """Seconds after its last use after which a sandbox is ended; its workspace stays."""
    max_sessions: int = Field(default=64, ge=1, le=5000)
    workspace_days: float = Field(default=7, gt=0, le=3650)
    """Days after its last use after which a workspace is deleted."""
    download_wheels: bool = True
    """True if the packages of skills are downloaded, in a sandbox with a network, for sandboxes without one."""
    local: BoxLocalSettings = BoxLocalSettings()
    e2b: E2bSettings = E2bSettings()

    @model_validator(mode="after")
    def _require_whole(self) -> "BoxSettings":
        if self.endpoint and not self.endpoint.startswith(("ws://", "wss://")):
            raise PydanticCustomError("box_endpoint", "endpoint must look like ws://host:port or wss://host:port")
        if self.endpoint and bool(self.token.get_secret_value()) == (self.token_file is not None):
            raise PydanticCustomError("box_token", "an endpoint needs a token, or a token_file that holds it, not both")
        listen = LISTEN_PATTERN.fullmatch(self.listen)
        if listen is None or int(listen["port"]) > 65535:
            raise PydanticCustomError("box_listen", "listen must look like 127.0.0.1:5410 or [::1]:5410")
        return self
