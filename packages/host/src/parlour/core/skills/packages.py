"""Stores the packages of skills as artifacts, and reads them again."""

import asyncio
import io
import zipfile

from parlour.core.model.ids import BindingId
from parlour.core.model.providers import ProviderFailed
from parlour.core.model.skill import Skill
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import Artifact, ArtifactInfo, ArtifactScope
from parlour.core.store.retention_queries import SKILL_SOURCE

from .package import Files, PackageFile, SkillPackage


class SkillPackages:
    """The archives of skills."""

    def __init__(self, artifacts: ArtifactService) -> None:
        self._artifacts = artifacts

    async def store(self, package: SkillPackage) -> Artifact:
        """Stores the archive of a package. The caller commits the row."""
        content = await asyncio.to_thread(package.pack)
        info = ArtifactInfo("file", f"{package.document.name}.zip", "application/zip", SKILL_SOURCE)
        return await self._artifacts.store(content, info, ArtifactScope(binding_id=BindingId("skills")))

    async def read_archive(self, skill: Skill) -> bytes:
        """Returns the archive of a skill. Raises ProviderFailed."""
        artifact = await self._artifacts.get(skill.artifact_id)
        if artifact is None:
            raise ProviderFailed("not_found", f"the files of the skill '{skill.name}' are gone; install it again")
        artifact = await self._artifacts.ensure_local(artifact)
        blocks = [block async for block in self._artifacts.stream(artifact, 0, artifact.size_bytes)]
        return b"".join(blocks)

    async def read_files(self, skill: Skill) -> Files:
        """Returns all files of a skill. Raises ProviderFailed."""
        return await asyncio.to_thread(_unpack, await self.read_archive(skill))


def _unpack(content: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {
            entry.filename: PackageFile(archive.read(entry), bool(entry.external_attr >> 16 & 0o100))
            for entry in archive.infolist()
        }
