"""Messages between a Host and a standalone Plugin Runtime, besides those that they relay for plugins."""

from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parlour.core.model.ids import PluginId
from parlour.core.model.plugin_manager import PluginInfo
from parlour.core.model.ports import PluginCallFailed, PluginDisconnected, PluginUnavailable
from parlour_sdk.wire import WireError

RUNTIME_PROTOCOL_VERSION: Final = 1
CONTROL_PATH: Final = "/control"
CHUNK_BYTES: Final = 256 * 1024
"""Bytes per part of a package that is sent to the other side."""
FRAME_GROWTH_BYTES: Final = 64 * 1024
"""Bytes by which a frame may grow on its second hop: numbers get longer, and a plugin's largest frame has to fit."""
REFUSED_CODE: Final = "plugin.refused"
IN_USE: Final = "in_use"
RUNTIME_UNAVAILABLE: Final = "runtime_unavailable"
HELLO_AGAIN: Final = "hello was called on this connection before; open another connection for another session"
_PLUGINS: Final = "/plugins/"
Model = TypeVar("Model", bound=BaseModel)


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ControlHello(_Message):
    """The first call on the control connection. `host` is new with each start of a Host."""

    protocol: int = Field(ge=0, le=1_000_000)
    version: str = Field(max_length=200)
    host: str = Field(max_length=200)


class ControlWelcome(_Message):
    protocol: int
    version: str
    session: str


class ChannelHello(_Message):
    """The first call on a plugin's channel; it names the session that the channel belongs to."""

    session: str = Field(max_length=200)


class StatusUpdate(_Message):
    """The status of one plugin."""

    plugin: PluginInfo
    running: bool
    """True if the runtime keeps it running, whatever its status."""
    proven: bool
    generation: int
    """Increases with every process that becomes ready, so that its runners are requested again."""


class RunnersMessage(_Message):
    version: str
    generation: int
    runners: list[object]


class ComponentsMessage(_Message):
    """Components other than runners. Requested separately, since each of the two lists may fill a frame."""

    components: list[object]


class LogRequest(_Message):
    plugin_id: PluginId
    limit: int


class UploadPart(_Message):
    upload: str
    data: str
    """Bytes of the package in base64."""


class InstallRequest(_Message):
    upload: str
    shown: str
    granted: list[str] | None
    upgrade: str | None


class ChangeRequest(_Message):
    plugin_id: PluginId
    granted: list[str] | None
    enabled: bool | None


class RestartRequest(_Message):
    plugin_id: PluginId


class RemoveRequest(_Message):
    plugin_id: PluginId
    delete_data: bool


def parse_message(model: type[Model], data: Any) -> Model:
    """Parses a message of the other side. Raises WireError that names the first wrong field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in first_error["loc"]) or "data"
        raise WireError("invalid_argument", f"{field}: {first_error['msg']}") from error


def plugin_path(plugin_id: PluginId) -> str:
    return _PLUGINS + quote(plugin_id)


def plugin_id_from_path(path: str) -> PluginId | None:
    """Returns the id of the plugin whose channel has this path, or None."""
    author, slash, name = unquote(path.removeprefix(_PLUGINS)).partition("/")
    is_complete = path.startswith(_PLUGINS) and author and slash and name and "/" not in name
    return PluginId(f"{author}/{name}") if is_complete else None


def protocol_mismatch_text(host: int, runtime: int) -> str:
    older_side = "the Host" if host < runtime else "the plugin runtime"
    versions = f"the Host speaks runtime protocol {host} and the plugin runtime {runtime}"
    return f"{versions}; update Parlour where {older_side} runs"


def to_wire_error(error: PluginDisconnected | PluginUnavailable | PluginCallFailed) -> WireError:
    """Returns the wire's error for the reason that ended a run."""
    if isinstance(error, PluginCallFailed):
        return WireError(REFUSED_CODE, str(error), {"code": error.code})
    return WireError(error.code, str(error))


def from_wire_error(error: WireError) -> PluginDisconnected | PluginUnavailable | PluginCallFailed:
    """Returns the core's error for an error of the other side."""
    if error.code == PluginDisconnected.code:
        return PluginDisconnected(error.message)
    if error.code == PluginUnavailable.code:
        return PluginUnavailable(error.message)
    reason_code = error.data.get("code") if error.code == REFUSED_CODE and isinstance(error.data, dict) else None
    return PluginCallFailed(str(reason_code or error.code), error.message)
