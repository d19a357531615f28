"""Messages between a Host and the Box runtime."""

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

BOX_PROTOCOL_VERSION: Final = 1
HEARTBEAT_SECONDS: Final = 20.0
MAX_COMMAND_BYTES: Final = 64 * 1024
MAX_WRITE_BYTES: Final = 1024 * 1024
MAX_SESSION_SKILLS: Final = 1000
MAX_MOUNTS: Final = 32
SESSION_ID: Final = r"^[a-z0-9-]{1,64}$"
DIGEST: Final = r"^[0-9a-f]{64}$"
OPTIONAL_DIGEST: Final = r"^([0-9a-f]{64})?$"
WHEEL_NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9_.+!-]{0,240}\.whl$"
FILE_OPERATIONS: Final = ("read", "write", "edit", "glob", "grep", "remove", "list")


class _BoxMessage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


BackendName = Literal["bubblewrap", "podman", "docker", "nsjail", "e2b"]
BackendSetting = Literal["auto", "bubblewrap", "podman", "docker", "nsjail", "e2b"]
BACKENDS: Final[tuple[BackendName, ...]] = ("bubblewrap", "podman", "docker", "nsjail", "e2b")
"""The order in which `auto` tries them: what needs no engine first. E2B is tried only if it has a key."""


QuotaSetting = Literal["auto", "advisory"]


class E2bAccount(_BoxMessage):
    """The account at E2B, or at a service with its interface, whose sandboxes are used."""

    api_key: str = Field(default="", repr=False)
    api_url: str = ""
    """Address of the service; empty for E2B itself."""
    sandbox_url: str = ""
    """Address of the sandboxes, if the service does not name them."""
    template: str = ""
    """Template of sandboxes, which needs Python 3.10 or newer; empty for that of the service."""


class BoxConfig(_BoxMessage):
    """How the Box works, as the Host sends it at the connection."""

    backend: BackendSetting = "auto"
    image: str = ""
    """Image of the containers of podman and docker."""
    bubblewrap: str = ""
    root: str
    """Folder of the workspaces, on the machine of the Box."""
    skills_root: str = ""
    """Folder of the unpacked skills; beside that of the workspaces if it is empty."""
    wheels: str = ""
    """Folder with Python packages that sandboxes may install without a network."""
    mount_roots: list[str] = []
    """Folders below which sessions may show files of the machine; none without them."""
    hidden: list[str] = []
    """Folders that no sandbox may see."""
    idle_seconds: float = Field(default=300, gt=0)
    max_sessions: int = Field(default=64, ge=1, le=5000)
    workspace_days: float = Field(default=7, gt=0)
    workspace_mb: int = Field(default=1024, ge=1)
    e2b: E2bAccount = E2bAccount()
    quota: QuotaSetting = "auto"
    """auto: the kernel limits the size of workspaces where it can; advisory: it is watched."""


class BoxInit(_BoxMessage):
    """The first call on a connection."""

    protocol: int
    host_id: str = Field(max_length=200)
    config: BoxConfig


class SessionSpec(_BoxMessage):
    """The sandbox that a call wants. It is created with the first call."""

    session_id: str = Field(pattern=SESSION_ID)
    title: str = Field(default="", max_length=2000)
    workspace_id: str = Field(default="default", min_length=1, max_length=200)
    cpus: float = Field(gt=0, le=64)
    memory_mb: int = Field(ge=32)
    processes: int = Field(ge=1)
    network: bool = False
    read_only: bool = False
    persistent: bool = False
    ephemeral: bool = False
    """True if the session serves one run only, so that its workspace may end with it."""
    mounts: list[str] = Field(default=[], max_length=MAX_MOUNTS)
    """Files and folders of the Box's machine that the session shows read-only, at their own paths."""
    skills: dict[str, str] = Field(default={}, max_length=MAX_SESSION_SKILLS)
    """Digests of the skills that the session shows, by their names."""

    def lacks_skills_of(self, other: "SessionSpec") -> bool:
        """Returns whether the other spec needs a skill, or a version of one, that this one does not show."""
        return not other.skills.items() <= self.skills.items()

    def conflicts_with(self, other: "SessionSpec") -> list[str]:
        """Returns the names of the fields that make two specs need two sandboxes."""
        names = (*("workspace_id", "cpus", "memory_mb", "processes", "network", "read_only", "persistent", "mounts"),)
        return [name for name in names if getattr(self, name) != getattr(other, name)]


class ExecRequest(_BoxMessage):
    """Runs a command in a session."""

    session: SessionSpec
    command: str = Field(min_length=1, max_length=MAX_COMMAND_BYTES)
    workdir: str = "/workspace"
    timeout_seconds: float = Field(gt=0, le=3600)
    environment: dict[str, str] = {}
    wheels: str = Field(default="", pattern=OPTIONAL_DIGEST)
    """Digest of the requirements whose wheels the command installs; empty if it installs none."""


class FileRequest(_BoxMessage):
    """Reads, writes or searches files of a session."""

    session: SessionSpec
    operation: Literal["read", "write", "edit", "glob", "grep", "remove", "list"]
    fields: dict[str, Any] = {}


class SessionRequest(_BoxMessage):
    """Names a session."""

    session_id: str = Field(pattern=SESSION_ID)


class SkillCheck(_BoxMessage):
    """Asks which packages of skills the Box does not have."""

    digests: list[str] = Field(max_length=MAX_SESSION_SKILLS)


class SkillPiece(_BoxMessage):
    """A piece of a skill's package."""

    sha256: str
    offset: int = Field(ge=0)
    data: str
    last: bool = False


class WheelsRequest(_BoxMessage):
    """Names the wheels of some requirements, by the digest of these."""

    digest: str = Field(pattern=DIGEST)


class WheelPiece(WheelsRequest):
    """A piece of a wheel."""

    name: str = Field(pattern=WHEEL_NAME)
    offset: int = Field(ge=0)
    data: str


class WheelsComplete(WheelsRequest):
    """Says that all wheels of some requirements were sent, and which requirements there still are."""

    needed: list[str] = Field(max_length=MAX_SESSION_SKILLS)


class ProcessSpec(_BoxMessage):
    """A program that runs in a session until it is stopped."""

    process_id: str = Field(default="default", pattern=SESSION_ID)
    command: str = Field(min_length=1, max_length=4096)
    args: list[str] = Field(default=[], max_length=200)
    environment: dict[str, str] = Field(default={}, max_length=100)
    workdir: str = "/workspace"
    memory_mb: int = Field(default=0, ge=0)
    """Memory that each of its processes may use; 0 means as much as the session has."""


class ManagedProcessStart(_BoxMessage):
    """Starts a managed process, and its session if it is not there."""

    session: SessionSpec
    process: ProcessSpec


class ProcessRequest(_BoxMessage):
    """Names a managed process; `data` is written to its input, `force` kills it."""

    session_id: str = Field(pattern=SESSION_ID)
    process_id: str = Field(pattern=SESSION_ID)
    data: str = ""
    force: bool = False


class WorkspaceRequest(_BoxMessage):
    """Names the workspace of a session."""

    session_id: str = Field(pattern=SESSION_ID)
    workspace_id: str = Field(min_length=1, max_length=200)
