"""Reads the configuration of a service's runner: its address, secrets, proxy and time limits."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from .errors import ServiceFailure
from .proxies import check_proxy

ConfigT = TypeVar("ConfigT", bound="HttpAgentConfig")
Seconds = Annotated[float, Field(gt=0, le=24 * 3600)]


def check_address(address: str) -> str:
    """Returns the address without white space and a slash at its end. Raises ValueError if it is no HTTP address."""
    address = address.strip().rstrip("/")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("enter an address that starts with http:// or https://")
    if parts.username or parts.password:
        raise ValueError("enter the address without a user name and password")
    return address


ServiceAddress = Annotated[str, AfterValidator(check_address)]
ProxyAddress = Annotated[SecretStr, AfterValidator(lambda proxy: check_proxy(proxy.get_secret_value()) and proxy)]


class HttpAgentConfig(BaseModel):
    """The settings that every service has. A subclass adds its own; secrets are of type SecretStr.

    The names are those of the form in the runner's manifest. An empty value counts as none.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True, populate_by_name=True)

    base_url: ServiceAddress
    api_key: SecretStr = SecretStr("")
    proxy: ProxyAddress | None = None
    """HTTP or SOCKS5 proxy, or `direct`; by default the one of the environment."""
    connect_timeout: Seconds = 10
    first_event_timeout: Seconds = 60
    """Seconds until the first event that says something; keep-alive signals don't count."""
    idle_timeout: Seconds = 60
    """Seconds between two pieces of an answer."""
    gateway: Literal["", "read", "all"] = ""
    """Whether the service may use the Host's tools while it answers: not at all, to read, or also to change things."""
    file_hosts: list[str] = Field(default_factory=list)
    """Further host names in private networks that files of the service are downloaded from."""

    @property
    def app(self) -> str:
        """The app, bot or flow within the service; sessions belong to it."""
        return ""

    @property
    def binding(self) -> str:
        """Identifies address, app and key, so that a session is never used with another one."""
        key = hashlib.sha256(self.api_key.get_secret_value().encode()).hexdigest()
        return hashlib.sha256("\n".join((self.base_url, self.app, key)).encode()).hexdigest()[:32]

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that must not appear in a text."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return tuple(each.get_secret_value() for each in values if isinstance(each, SecretStr))


def read_config(model: type[ConfigT], values: Mapping[str, Any]) -> ConfigT:
    """Validates a configuration. Raises ServiceFailure that names the first invalid setting and never its value."""
    given = {name: value for name, value in values.items() if value is not None and value != ""}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in problem["loc"]) or "configuration"
        message = "a value is required" if problem["type"] == "missing" else problem["msg"]
        raise ServiceFailure("config", f"{name}: {message}") from None
