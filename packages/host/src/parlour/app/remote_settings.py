"""The settings of processes on other machines: a standalone plugin runtime, and a worker."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_core import PydanticCustomError

from .setting_values import COMMA_LIST, LISTEN_PATTERN


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class RuntimeSettings(_Section):
    """Settings of a standalone plugin runtime: the address a Host connects to, and the address it listens on."""

    url: str = ""
    token: SecretStr = SecretStr("")
    token_file: Path | None = None
    listen: str = "127.0.0.1:5310"
    silence_seconds: float = Field(default=20, gt=0)
    first_retry_seconds: float = Field(default=0.5, gt=0)
    longest_retry_seconds: float = Field(default=15, gt=0)

    @model_validator(mode="after")
    def _require_whole(self) -> "RuntimeSettings":
        if self.url and not self.url.startswith(("ws://", "wss://")):
            raise PydanticCustomError("runtime_url", "url must look like ws://host:port or wss://host:port")
        if self.url and bool(self.token.get_secret_value()) == (self.token_file is not None):
            raise PydanticCustomError("runtime_token", "a url needs a token, or a token_file that holds it, not both")
        listen = LISTEN_PATTERN.fullmatch(self.listen)
        if listen is None or int(listen["port"]) > 65535:
            raise PydanticCustomError("runtime_listen", "listen must look like 127.0.0.1:5310 or [::1]:5310")
        return self


class WorkerSettings(_Section):
    """Settings of `parlour worker`, which executes runs of a Host on another machine."""

    url: str = ""
    """Address of the Host, such as https://parlour.example.org, with its path prefix if it has one."""
    token: SecretStr = SecretStr("")
    """API key with the scope `worker`."""
    token_file: Path | None = None
    """File with the API key, instead of `token`."""
    name: str = Field(default="", max_length=200)
    """Name under which the Host knows this worker; by default the name of the machine."""
    labels: Annotated[list[str], COMMA_LIST] | None = None
    """Labels that runs may ask for; by default all that its key allows."""
    slots: int = Field(default=4, ge=1, le=10_000)
    """Runs that it executes at the same time."""
    workspaces: Annotated[list[str], COMMA_LIST] = []
    """Folders or repositories that it can reach, shown to operators."""
    lease_seconds: float = Field(default=30, ge=1, le=600)
    """Seconds after which the Host gives its runs to others if nothing was heard of it."""
    drain_seconds: float = Field(default=300, ge=0, le=86_400)
    """Seconds that active runs may take to end after SIGTERM."""
    first_retry_seconds: float = Field(default=0.5, gt=0)
    longest_retry_seconds: float = Field(default=15, gt=0)

    @model_validator(mode="after")
    def _require_whole(self) -> "WorkerSettings":
        if self.url and not self.url.startswith(("http://", "https://")):
            raise PydanticCustomError("worker_url", "url must look like http://host:port or https://host")
        if self.token.get_secret_value() and self.token_file is not None:
            raise PydanticCustomError("worker_token", "give the API key as token or as token_file, not both")
        return self
