"""Defines the settings of doors, through which clients of common standards reach published agents."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from parlour.core.addresses import authority


def _check_url(address: str) -> str:
    if address and not address.startswith(("http://", "https://")):
        raise ValueError("enter an address that starts with https:// or http://")
    return address.rstrip("/")


class DoorSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    requests_per_minute: int = Field(default=600, ge=0, le=1_000_000)
    """Requests per minute that one API key or user may send to each door; 0: no limit."""
    on_disconnect: Literal["continue", "cancel"] = "continue"
    """What becomes of a run whose client disconnects from the OpenAI or AG-UI door before its end."""
    services_host: str = "127.0.0.1"
    services_port: int = Field(default=0, ge=0, le=65535)
    """Port of the gateway for services elsewhere; 0: off."""
    services_url: Annotated[str, AfterValidator(_check_url)] = ""
    """Address by which services reach that gateway, usually that of a reverse proxy with TLS."""

    @property
    def services_address(self) -> str:
        """The address of the MCP server for services elsewhere; empty if it is off."""
        if not self.services_port:
            return ""
        return f"{self.services_url or f'http://{authority(self.services_host, self.services_port)}'}/mcp"
