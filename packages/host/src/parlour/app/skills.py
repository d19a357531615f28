"""Builds the skills of a Host: the repository, the service that changes them, and what runs get of them."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path

from parlour.core.config.skills import SkillRepository
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.skills.activations import SkillActivations
from parlour.core.skills.catalog import SkillCatalog
from parlour.core.skills.folder import read_folder
from parlour.core.skills.limits import MAX_SCANNED_ENTRIES, MAX_TOTAL_BYTES, SkillInvalid
from parlour.core.skills.package import Files
from parlour.core.skills.packages import SkillPackages
from parlour.core.skills.service import SkillService
from parlour_sdk.protocol.resources import SkillResource
from parlour_sdk.protocol.skills import ActiveSkill
from parlour_sdk.values import dataclass

from .core import Core
from .core_ports import CorePorts

FETCH_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class SkillParts:
    """The objects of skills."""

    repository: SkillRepository
    packages: SkillPackages
    activations: SkillActivations
    service: SkillService
    catalog: SkillCatalog


class SkillSubsystem:
    """The skills of a Host. Implements the port of runs, which exists before the rest of the core."""

    def __init__(self) -> None:
        self._parts: SkillParts | None = None

    @property
    def parts(self) -> SkillParts:
        assert self._parts is not None
        return self._parts

    @property
    def is_used(self) -> bool:
        """True if agents are offered at least one skill."""
        return self._parts is not None and any(skill.enabled for skill in self._parts.repository.all())

    async def open(
        self,
        ports: CorePorts,
        core: Core,
        unavailable_reason: Callable[[], Awaitable[str]],
        is_ready: Callable[[], bool],
    ) -> None:
        """Loads the skills. `unavailable_reason` waits until the Box is ready or can't be."""
        repository = SkillRepository(ports.journal, ports.clock)
        await repository.load()
        packages = SkillPackages(core.artifacts)
        activations = SkillActivations(ports.journal, ports.clock)
        service = SkillService(repository, packages, ports.journal, ports.clock, unavailable_reason)
        catalog = SkillCatalog(service, activations, is_ready)
        self._parts = SkillParts(repository, packages, activations, service, catalog)

    def resources(self) -> Sequence[SkillResource]:
        return self._parts.catalog.resources() if self._parts is not None else ()

    async def active(self, context: CallContext) -> Collection[str]:
        return await self._parts.catalog.active(context) if self._parts is not None else ()

    async def activate(self, context: CallContext, skill_name: str, records: bool = True) -> ActiveSkill:
        if self._parts is None:
            raise ProviderFailed("not_found", f"there is no skill '{skill_name[:64]}'")
        return await self._parts.catalog.activate(context, skill_name, records)


async def fetch_from_git(source: str, folder: Path) -> tuple[Files, str]:
    """Returns the files of a git address, and the address without its password. Raises SkillInvalid."""
    from parlour.plugin_runtime.packages import git
    from parlour.plugin_runtime.packages.archive import SizeLimits
    from parlour_sdk.plugin import PluginInvalid

    try:
        address = git.parse(source)
        limits = SizeLimits(MAX_SCANNED_ENTRIES, MAX_TOTAL_BYTES)
        fetched = await git.fetch(address, folder / "fetched", FETCH_SECONDS, limits)
    except PluginInvalid as error:
        raise SkillInvalid(str(error)) from None
    return read_folder(fetched), address.display_url
