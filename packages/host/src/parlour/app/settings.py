"""Defines the settings: defaults, then a YAML file, then `PARLOUR__SECTION__KEY` from the environment."""

import re
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError

from parlour.core.config.setting_declarations import RuntimeSetting
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, Language
from parlour.stores.address import ACCEPTED, is_accepted

from .artifact_settings import ArtifactSettings
from .box_settings import BoxSettings
from .cluster_settings import ClusterSettings
from .door_settings import DoorSettings
from .http_address import host_name, validate_base_path, validate_collector_url, validate_proxies, validate_public_url
from .knowledge_settings import KnowledgeSettings
from .object_limit_settings import LimitSettings
from .program_settings import ProgramSettings
from .remote_settings import RuntimeSettings, WorkerSettings
from .setting_values import (
    COMMA_LIST,
    CURRENCY,
    CURRENCY_MESSAGE,
    EXISTING_ZONE,
    FALSE_MEANS_OFF,
    NewAddresses,
    NewCommandRoles,
    NewCount,
    NewCurrency,
    NewDays,
    NewPrefixes,
    NewRate,
    NewTimeZone,
)
from .time_zone import system_zone

HOST_NAME = re.compile(r"[\w.-]+")


class ConfigurationInvalid(Exception):
    """Raised when the configuration can't be used."""

    code = "configuration_invalid"


class ConfigSection(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class HttpSettings(ConfigSection):
    host: str = "127.0.0.1"
    port: int = Field(default=5300, ge=0, le=65535)
    body_bytes: int = Field(default=10 * 1024 * 1024, ge=1024)
    chat_frame_bytes: int = Field(default=1024 * 1024, ge=1024)
    upload_bytes: int = Field(default=100 * 1024 * 1024, ge=1024)
    chat_sockets: int = Field(default=500, ge=1, le=100_000)
    """Chat sockets that one API key or user may have open at a time."""
    chat_send_seconds: float = Field(default=30, ge=1, le=600)
    """Seconds that a chat socket may take to accept one frame before it is closed."""
    names: Annotated[list[str], COMMA_LIST] = []
    """Host names that browsers may use besides the Host's address; the one of `public_url` is added."""
    public_url: Annotated[str, AfterValidator(validate_public_url)] = ""
    """External address, such as https://example.org/chat, for links and webhooks."""
    base_path: Annotated[str, AfterValidator(validate_base_path)] | None = None
    """Path prefix below which a proxy serves the Host; by default the path of `public_url`."""
    trusted_proxies: Annotated[list[str], COMMA_LIST, AfterValidator(validate_proxies)] = []
    """Addresses and networks of proxies whose `Forwarded` and `X-Forwarded-*` headers are trusted."""
    connections: int = Field(default=10_000, ge=16, le=1_000_000)
    """Maximum number of open connections; less if the limit of open files is lower."""
    connections_per_address: int = Field(default=256, ge=1, le=1_000_000)
    head_seconds: float = Field(default=10, gt=0, le=600)
    """Seconds that a client has to send the head of a request."""
    silent_seconds: float = Field(default=60, gt=0, le=3600)
    """Seconds after which a client that neither sends the body it announced nor reads the answer is disconnected."""

    @property
    def prefix(self) -> str:
        """The effective path prefix, such as /chat, or empty."""
        return urlsplit(self.public_url).path if self.base_path is None else self.base_path

    @property
    def public_address(self) -> str:
        """The external address with its prefix: `public_url`, with `base_path` if it has no path of its own."""
        has_prefix = not self.public_url or urlsplit(self.public_url).path
        return self.public_url if has_prefix else f"{self.public_url}{self.prefix}"

    @property
    def accepted_names(self) -> list[str]:
        """All host names that browsers may use besides the Host's address."""
        return [*self.names, *filter(None, (host_name(self.public_url),))]


class DatabaseSettings(ConfigSection):
    url: SecretStr = SecretStr("")

    @field_validator("url")
    @classmethod
    def _require_address(cls, url: SecretStr) -> SecretStr:
        if url.get_secret_value() and not is_accepted(url.get_secret_value()):
            raise PydanticCustomError("database_url", ACCEPTED)
        return url


class RunSettings(ConfigSection):
    concurrent: Annotated[int, RuntimeSetting(NewCount)] = Field(default=256, ge=1)
    """Parallel runs in total."""
    per_person: Annotated[int, RuntimeSetting(NewCount)] = Field(default=8, ge=1)
    """Parallel runs per person on a platform."""
    per_sender_per_minute: Annotated[
        int,
        RuntimeSetting(NewRate, "On platforms; a private chat may be beyond it for ten minutes. 0: no limit."),
    ] = Field(default=20, ge=0)
    """Rate limit for new runs per sender on a platform; 0: no limit. In a group, accounts that behave like bots share
    one such limit, so that two bots can't keep each other busy. A private chat is limited only after it has exceeded
    the limit for ten minutes without a break."""
    per_conversation_per_minute: Annotated[
        int, RuntimeSetting(NewRate, "For all senders of a group on a platform together. 0: no limit.")
    ] = Field(default=120, ge=0)
    """Rate limit for new runs of all senders of a group together; 0: no limit."""


class RetentionSettings(ConfigSection):
    """Number of days after which records are deleted; 0 means never."""

    events_days: Annotated[
        float, RuntimeSetting(NewDays, "With events go transcripts, outgoing messages and runs.", "days")
    ] = Field(default=365, ge=0)
    """Events, transcripts, runs and sent messages. 0: never deleted."""
    run_events_days: Annotated[float, RuntimeSetting(NewDays, "What runs did, step by step.", "days")] = Field(
        default=30, ge=0
    )
    """Steps of runs."""
    artifacts_days: Annotated[float, RuntimeSetting(NewDays, unit="days")] = Field(default=90, ge=0)
    """Files."""
    audit_days: Annotated[float, RuntimeSetting(NewDays, unit="days")] = Field(default=365, ge=0)
    """Audit records."""
    model_calls_days: Annotated[
        float, RuntimeSetting(NewDays, "Prompts, parameters and answers of models.", "days")
    ] = Field(default=7, ge=0)
    """Prompts, parameters and answers of model calls."""
    directory_days: Annotated[
        float, RuntimeSetting(NewDays, "People, groups and messages that platforms' events named.", "days")
    ] = Field(default=90, ge=0)
    """People, groups, members and message ids of the directory."""
    heard_days: Annotated[float, RuntimeSetting(NewDays, "Messages of groups that did not address a bot.", "days")] = (
        Field(default=30, ge=0)
    )
    """Messages of groups that did not address a bot, in the transcript."""
    first_seconds: float = Field(default=60, ge=0)
    every_hours: float = Field(default=24, gt=0)


class PluginSettings(ConfigSection):
    start_seconds: float = Field(default=30, gt=0)
    stop_seconds: float = Field(default=5, gt=0)
    drain_seconds: float = Field(default=30, ge=0)
    starts_at_once: int = Field(default=8, ge=1)
    first_restart_seconds: float = Field(default=1, ge=0)
    longest_restart_seconds: float = Field(default=60, ge=0)
    give_up_after: int = Field(default=5, ge=1)
    give_up_within_seconds: float = Field(default=600, gt=0)
    ping_seconds: float = Field(default=10, gt=0)
    missed_pings: int = Field(default=3, ge=1)
    listener_seconds: float = Field(default=30, gt=0)
    ignored_cancel_seconds: float = Field(default=30, gt=0)
    memory_mb: int = Field(default=2048, ge=16)
    memory_look_seconds: float = Field(default=2, gt=0)
    data_mb: int = Field(default=1024, ge=1)
    data_files: int = Field(default=100_000, ge=1)
    data_look_seconds: float = Field(default=10, gt=0)
    open_files: int = Field(default=1024, ge=64)
    processes: int = Field(default=200, ge=4)
    niceness: int = Field(default=5, ge=0, le=19)
    log_files: int = Field(default=5, ge=1)
    log_bytes: int = Field(default=2 * 1024 * 1024, ge=1024)
    frames_per_second: int = Field(default=5000, ge=1)
    bytes_per_second: int = Field(default=16 * 1024 * 1024, ge=1024)
    package_bytes: int = Field(default=100 * 1024 * 1024, ge=1024)
    package_files: int = Field(default=10_000, ge=1)
    fetch_seconds: float = Field(default=120, gt=0)
    uv: Path | None = None
    environment_seconds: float = Field(default=600, gt=0)
    allow_building: bool = False
    index_hosts: Annotated[list[str], COMMA_LIST] = []
    """Hosts that the installer may connect to besides the package indexes, each `host` or `host:port`."""
    bundled: bool = True
    """True if a new installation gets local-agent and a default agent that uses it."""
    sandbox: Annotated[Literal["auto", "required", "off"], FALSE_MEANS_OFF] = "auto"
    bubblewrap: Path | None = None

    @field_validator("index_hosts")
    @classmethod
    def _require_hosts(cls, listed: list[str]) -> list[str]:
        for entry in listed:
            host, _, port = entry.partition(":")
            if not HOST_NAME.fullmatch(host) or (":" in entry and not (port.isascii() and port.isdigit())):
                raise PydanticCustomError("index_hosts", "must hold hosts such as files.example.org or 10.0.0.5:8080")
        return listed


class ToolSettings(ConfigSection):
    call_seconds: float = Field(default=60, gt=0)
    fetch_seconds: float = Field(default=20, gt=0)
    allowed_addresses: Annotated[list[str], COMMA_LIST] = []
    """Private hosts and networks that are allowed even for addresses from outside, such as links in messages."""

    @field_validator("allowed_addresses")
    @classmethod
    def _require_networks(cls, listed: list[str]) -> list[str]:
        for each in (entry for entry in listed if not HOST_NAME.fullmatch(entry)):
            try:
                ip_network(each, strict=False)
            except ValueError as error:
                message = "must hold host names, addresses or networks such as 10.0.0.0/8"
                raise PydanticCustomError("addresses", message) from error
        return listed


class McpSettings(ConfigSection):
    allow_unsandboxed: bool = False
    """True if MCP servers may run as processes on this machine, with the Host's own rights."""


class PlatformSettings(ConfigSection):
    external: Annotated[list[str], COMMA_LIST] = []
    """Names of platforms whose adapters are installed packages. They run as trusted code of the Host, without a
    sandbox; no other package is loaded.
    """


class ModelSettings(ConfigSection):
    connect_seconds: float = Field(default=10, gt=0)
    first_token_seconds: float = Field(default=120, gt=0)
    stall_seconds: float = Field(default=60, gt=0)
    total_seconds: float = Field(default=600, gt=0)
    attempts: int = Field(default=3, ge=1, le=10)
    longest_wait_seconds: float = Field(default=20, ge=0)
    answer_bytes: int = Field(default=32 * 1024 * 1024, ge=1024)


class ModelCallSettings(ConfigSection):
    record: bool = True
    """True if the prompt, the parameters and the answer of each model call of a run are stored."""
    visible_to: Literal["admin", "operator", "viewer"] = "admin"
    """Lowest role or key scope that may read recorded model calls."""


class LogSettings(ConfigSection):
    """Settings of the Host's own log, on standard error and in `logs/host.log` of the data directory."""

    format: Literal["text", "json"] = "text"
    level: Annotated[Literal["debug", "info", "warning", "error"], RuntimeSetting()] = "info"
    """Lowest level of the lines that are logged."""
    files: int = Field(default=14, ge=0)
    """Number of old files that are kept; a new file starts each day and after `file_bytes`. 0 means no files."""
    file_bytes: int = Field(default=20 * 1024 * 1024, ge=1024)


class TelemetrySettings(ConfigSection):
    """Settings of OpenTelemetry traces, which are sent only if an address is set."""

    endpoint: Annotated[str, AfterValidator(validate_collector_url)] = ""
    """OTLP address for traces, such as http://127.0.0.1:4318; /v1/traces is added to an address without a path."""
    headers: SecretStr = SecretStr("")
    """HTTP headers to send with traces, such as authorization=Bearer abc, separated by commas."""

    @property
    def traces_url(self) -> str:
        parts = urlsplit(self.endpoint)
        return self.endpoint if parts.path.strip("/") else urlunsplit(parts._replace(path="/v1/traces"))

    @property
    def sent_headers(self) -> dict[str, str]:
        pairs = (pair.partition("=") for pair in self.headers.get_secret_value().split(",") if pair)
        return {name.strip(): value.strip() for name, _, value in pairs}


class WorkspaceSettings(ConfigSection):
    time_zone: Annotated[str, EXISTING_ZONE, RuntimeSetting(NewTimeZone, default_text="the machine's")] = Field(
        default_factory=system_zone
    )
    """Defines when the day of a budget starts, and the time that agents see."""
    language: Annotated[
        Language,
        RuntimeSetting(description="In which the Host speaks to people whose own language it does not know."),
    ] = DEFAULT_LANGUAGE
    """Language of the Host's notices to users whose locale is unknown."""
    command_prefixes: Annotated[
        list[str],
        COMMA_LIST,
        RuntimeSetting(NewPrefixes, "How chat commands begin; the first is the one that is told."),
    ] = Field(default=["/"], max_length=10)
    """Prefixes of chat commands."""
    command_roles: Annotated[
        NewCommandRoles, COMMA_LIST, RuntimeSetting(NewCommandRoles, "Who may use a command, as `NAME:ROLE`.")
    ] = []
    """Roles that may use chat commands, such as `new:admin, model:owner, why:off`."""
    outbound_ips: Annotated[list[str], COMMA_LIST, RuntimeSetting(NewAddresses)] = []
    """Addresses from which this Host connects to platforms, shown where a platform asks for them."""
    currency: Annotated[
        str,
        RuntimeSetting(
            NewCurrency,
            "The code of the currency that costs are shown in; empty: that of the providers, where they agree.",
            default_text="the providers'",
            pattern_message=CURRENCY_MESSAGE,
        ),
    ] = Field(default="", pattern=CURRENCY)
    """Currency code for costs, such as `EUR`; amounts are not converted. Empty: the currency that all priced providers
    share."""


class HostSettings(ConfigSection):
    data: Path = Path("data")
    database: DatabaseSettings = DatabaseSettings()
    http: HttpSettings = HttpSettings()
    runs: RunSettings = RunSettings()
    limits: LimitSettings = LimitSettings()
    cluster: ClusterSettings = ClusterSettings()
    artifacts: ArtifactSettings = ArtifactSettings()
    retention: RetentionSettings = RetentionSettings()
    plugins: PluginSettings = PluginSettings()
    runtime: RuntimeSettings = RuntimeSettings()
    tools: ToolSettings = ToolSettings()
    programs: ProgramSettings = ProgramSettings()
    doors: DoorSettings = DoorSettings()
    mcp: McpSettings = McpSettings()
    box: BoxSettings = BoxSettings()
    worker: WorkerSettings = WorkerSettings()
    platforms: PlatformSettings = PlatformSettings()
    models: ModelSettings = ModelSettings()
    model_calls: ModelCallSettings = ModelCallSettings()
    knowledge: KnowledgeSettings = KnowledgeSettings()
    logs: LogSettings = LogSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    workspace: WorkspaceSettings = Field(default_factory=WorkspaceSettings)


def secret_values(section: BaseModel) -> Iterator[str]:
    """Yields the secret values of the settings."""
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, SecretStr) and value.get_secret_value():
            yield value.get_secret_value()
        elif isinstance(value, BaseModel):
            yield from secret_values(value)
