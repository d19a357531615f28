"""Installs, creates, changes and deletes skills, and reads their files."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from parlour.core.config.skills import SkillRepository
from parlour.core.errors import CallRejected
from parlour.core.journal import GuardFailed, Insert, Journal, Statement, Unit, Update, where
from parlour.core.model.ids import SkillName
from parlour.core.model.ports import Clock
from parlour.core.model.skill import Skill, SkillSource
from parlour.core.store import artifacts
from parlour.core.store.tables import SKILLS

from .candidates import SkillCandidate
from .document import DOCUMENT, SkillDocument, check_name, write_document
from .limits import MAX_SKILLS, MAX_TEXT_BYTES, SkillInvalid
from .package import PackageFile, SkillPackage, build_package, check_path
from .packages import SkillPackages

BuildEntry = Callable[[Skill | None, Skill | None], Insert]
"""Builds the audit entry of a change, from the skill before and after it."""


class SkillService:
    """All changes of skills. While the Box is not available, skills can only be read."""

    def __init__(
        self,
        repository: SkillRepository,
        packages: SkillPackages,
        journal: Journal,
        clock: Clock,
        unavailable_reason: Callable[[], Awaitable[str]],
    ) -> None:
        self.repository = repository
        self.packages = packages
        self._journal = journal
        self._clock = clock
        self._unavailable_reason = unavailable_reason

    async def require_box(self) -> None:
        """Raises CallRejected if the Box is not available."""
        reason = await self._unavailable_reason()
        if reason:
            raise CallRejected(
                "box_unavailable", f"skills can only be read now: the sandbox is not available, {reason}"
            )

    def get(self, name: str) -> Skill:
        """Returns a skill. Raises CallRejected if it is not installed."""
        skill = self.repository.get(SkillName(name))
        if skill is None:
            raise CallRejected("skill_not_found", f"there is no skill '{name[:80]}'")
        return skill

    async def create(self, document: SkillDocument, source: SkillSource, actor: str, entry: BuildEntry) -> Skill:
        """Creates a skill that has only a SKILL.md."""
        package = build_package({DOCUMENT: PackageFile(write_document(document))})
        return await self.add(package, source, actor, entry)

    async def add(self, package: SkillPackage, source: SkillSource, actor: str, entry: BuildEntry) -> Skill:
        """Installs a package as a new skill. Raises CallRejected."""
        await self.require_box()
        if self.repository.get(package.document.name) is not None:
            raise _exists(package.document.name)
        if len(self.repository.all()) >= MAX_SKILLS:
            raise CallRejected("limit_reached", f"there are {MAX_SKILLS} skills already; delete one first")
        artifact = await self.packages.store(package)
        skill = self._skill(package, artifact.artifact_id, source, actor)
        try:
            await self.repository.add(skill, artifact.insert(), entry(None, skill))
        except GuardFailed:
            raise _exists(skill.name) from None
        return skill

    async def install(
        self, chosen: Sequence[SkillCandidate], source: SkillSource, actor: str, replaces: bool, entry: BuildEntry
    ) -> list[Skill]:
        """Installs candidates. All are checked before the first one is installed."""
        await self.require_box()
        for candidate in chosen:
            if candidate.package is None:
                raise CallRejected("skill_invalid", f"{candidate.source_path or 'the source'}: {candidate.problem}")
            if candidate.conflicts and not replaces:
                raise _exists(candidate.target)
        if len({candidate.target for candidate in chosen}) < len(chosen):
            raise CallRejected("skill_invalid", "two of the chosen skills have the same name; choose one of them")
        installed = []
        for candidate in chosen:
            assert candidate.package is not None
            origin = replace(source, subfolder=candidate.source_path)
            before = self.repository.get(candidate.package.document.name)
            if before is None:
                installed.append(await self.add(candidate.package, origin, actor, entry))
            else:
                installed.append(await self.replace_package(before, candidate.package, actor, entry, origin))
        return installed

    async def replace_package(
        self, before: Skill, package: SkillPackage, actor: str, entry: BuildEntry, source: SkillSource | None = None
    ) -> Skill:
        """Replaces the files of a skill. Raises CallRejected, `conflict` if it was changed in the meantime."""
        await self.require_box()
        if package.document.name != before.name:
            raise CallRejected(
                "skill_invalid", f"{DOCUMENT}: the name must stay {before.name}; copy the skill to give it another name"
            )
        if package.sha256 == before.sha256 and source is None:
            return before
        artifact = await self.packages.store(package)
        after = self._skill(package, artifact.artifact_id, source or before.source, actor, before.enabled)
        statements: list[Statement] = [artifact.insert(), artifacts.remove(before.artifact_id)]
        return await self._replace(before, after, entry, *statements)

    async def set_enabled(self, before: Skill, enabled: bool, entry: BuildEntry) -> Skill:
        """Offers a skill to agents, or does not offer it any more."""
        await self.require_box()
        return await self._replace(before, replace(before, enabled=enabled, updated_at=self._clock.now()), entry)

    async def write_document(
        self, before: Skill, description: str, instructions: str, actor: str, entry: BuildEntry
    ) -> Skill:
        """Changes the description and the instructions."""
        document = SkillDocument(before.name, description, instructions, before.metadata)
        return await self.write_file(before, DOCUMENT, write_document(document), actor, entry)

    async def write_file(self, before: Skill, path: str, content: bytes, actor: str, entry: BuildEntry) -> Skill:
        """Writes one file."""
        await self.require_box()
        if len(content) > MAX_TEXT_BYTES:
            raise SkillInvalid(f"'{path[:100]}' has {len(content)} bytes; at most {MAX_TEXT_BYTES} can be written")
        files = dict(await self.packages.read_files(before))
        known = files.get(check_path(path))
        files[path] = PackageFile(content, known.executable if known is not None else content.startswith(b"#!"))
        return await self.replace_package(before, build_package(files), actor, entry)

    async def delete_file(self, before: Skill, path: str, actor: str, entry: BuildEntry) -> Skill:
        """Deletes one file."""
        await self.require_box()
        files = dict(await self.packages.read_files(before))
        if files.pop(path, None) is None:
            raise CallRejected("not_found", f"the skill '{before.name}' has no file '{path[:100]}'")
        return await self.replace_package(before, build_package(files), actor, entry)

    async def read_file(self, skill: Skill, path: str) -> bytes:
        """Returns one file. Raises CallRejected."""
        files = await self.packages.read_files(skill)
        if path not in files:
            raise CallRejected("not_found", f"the skill '{skill.name}' has no file '{path[:100]}'")
        return files[path].content

    async def remove(self, skill: Skill, entry: Insert) -> None:
        """Deletes a skill with its files, and ends its activations."""
        await self.require_box()
        try:
            await self.repository.remove(skill.name, artifacts.remove(skill.artifact_id), entry)
        except GuardFailed:
            raise _changed(skill.name) from None

    async def _replace(self, before: Skill, after: Skill, entry: BuildEntry, *statements: Statement) -> Skill:
        columns: dict[str, str | int] = {
            "definition": after.encode(),
            "sha256": after.sha256,
            "artifact_id": after.artifact_id,
            "updated_at": after.updated_at,
        }
        unchanged = where(skill_name=before.name, sha256=before.sha256, artifact_id=before.artifact_id)
        change = Update(SKILLS, columns, unchanged)
        try:
            await self._journal.commit(Unit("skill.replace", (change, *statements, entry(before, after))))
        except GuardFailed:
            raise _changed(before.name) from None
        self.repository.cache(after)
        return after

    def _skill(
        self, package: SkillPackage, artifact_id: Any, source: SkillSource, actor: str, enabled: bool = True
    ) -> Skill:
        document = package.document
        return Skill(
            check_name(document.name),
            document.description,
            document.instructions,
            package.listing,
            package.sha256,
            artifact_id,
            source,
            document.metadata,
            actor,
            enabled,
            self._clock.now(),
        )


def audited(skill: Skill) -> Mapping[str, Any]:
    """Returns what the audit keeps of a skill: no contents."""
    return {
        "description": skill.description,
        "sha256": skill.sha256,
        "files": len(skill.files),
        "enabled": skill.enabled,
        "source": f"{skill.source.kind} {skill.source.address}".strip(),
    }


def _exists(name: str) -> CallRejected:
    message = f"there is a skill '{name}' already; replace it, or install this one with a suffix"
    return CallRejected("exists", message)


def _changed(name: str) -> CallRejected:
    return CallRejected("conflict", f"the skill '{name}' was changed in the meantime; read it again")
