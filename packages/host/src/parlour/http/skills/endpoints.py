"""Endpoints of skills: list, create, preview, install, change, delete, and their files."""

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from parlour.core.access import audit
from parlour.core.errors import CallRejected
from parlour.core.journal import Insert
from parlour.core.model.ids import SkillName
from parlour.core.model.ports import Clock
from parlour.core.model.skill import Skill, SkillSource
from parlour.core.pagination import Cursors
from parlour.core.skills.candidates import SkillCandidate, find_candidates
from parlour.core.skills.document import SkillDocument
from parlour.core.skills.limits import MAX_TEXT_BYTES, SkillInvalid
from parlour.core.skills.service import BuildEntry, SkillService, audited

from ..api_router import ApiRouter
from ..auth import Admin, Viewer
from ..errors import Problem, not_found
from ..etags import IfMatch, check_if_match, set_etag
from ..pagination import Cursor, LongLimit, paginate
from ..principals import Principal
from ..responses import PageResponse
from .schemas import (
    InstalledSkillsResponse,
    InstallSkillsBody,
    NewSkillBody,
    SkillCandidateResponse,
    SkillChangeBody,
    SkillDetailResponse,
    SkillFileBody,
    SkillFileEntry,
    SkillFileResponse,
    SkillPreviewResponse,
    SkillResponse,
    SkillSourceBody,
    SkillSourceResponse,
)
from .sources import SkillSources

NamePath = Annotated[str, Path(max_length=64)]
FilePath = Annotated[str, Path(max_length=500)]
STATUS = {"not_found": 404, "skill_not_found": 404, "skill_invalid": 422}
"""HTTP status by error code; all other codes are conflicts (409)."""
_UPLOAD = {"file": {"type": "string", "format": "binary", "description": "A zip of skills"}}


def _body(model: type[SkillSourceBody]) -> dict[str, object]:
    texts = {name: {"type": "string"} for name in model.model_fields if name != "source"}
    form = {"schema": {"type": "object", "required": ["file"], "properties": {**_UPLOAD, **texts}}}
    content = {"application/json": {"schema": model.model_json_schema()}, "multipart/form-data": form}
    return {"requestBody": {"required": True, "content": content}}


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except SkillInvalid as invalid:
        raise Problem(422, "skill_invalid", str(invalid)) from invalid
    except CallRejected as rejection:
        raise Problem(STATUS.get(rejection.code, 409), rejection.code, rejection.message) from rejection


def router(skills: SkillService, sources: SkillSources, cursors: Cursors, clock: Clock) -> APIRouter:
    routes = ApiRouter(tags=["skills"])

    def find(name: str) -> Skill:
        skill = skills.repository.get(SkillName(name))
        if skill is None:
            raise not_found(f"skill '{name}'", "GET /api/v1/skills lists them")
        return skill

    def entries(principal: Principal) -> BuildEntry:
        def build(before: Skill | None, after: Skill | None) -> Insert:
            name = after.name if after is not None else before.name if before is not None else ""
            verb = "create" if before is None else "delete" if after is None else "replace"
            was, becomes = (audited(each) if each is not None else None for each in (before, after))
            return audit.change_entry(principal.owner, f"skill.{verb}", name, was, becomes, clock.now())

        return build

    def changed(skill: Skill, response: Response) -> SkillDetailResponse:
        set_etag(response, _version(skill))
        return _detail(skill)

    @routes.get("/skills")
    async def list_skills(
        principal: Viewer, limit: LongLimit = 1000, cursor: Cursor = None
    ) -> PageResponse[SkillResponse]:
        page, next_cursor = paginate(cursors, "skills", skills.repository.all(), attrgetter("name"), limit, cursor)
        return {"items": [_response(each) for each in page], "next_cursor": next_cursor}

    @routes.post("/skills", status_code=201)
    async def create_skill(body: NewSkillBody, principal: Admin, response: Response) -> SkillDetailResponse:
        """Creates a skill of instructions alone; files can be added afterwards."""
        document = SkillDocument(SkillName(body.name), body.description, body.instructions, {})
        with _refusals():
            skill = await skills.create(document, SkillSource("page"), principal.owner, entries(principal))
        return changed(skill, response)

    @routes.post("/skills/preview", openapi_extra=_body(SkillSourceBody))
    async def preview_skills(request: Request, principal: Admin) -> SkillPreviewResponse:
        """Reads a source without installing anything."""
        with _refusals():
            async with sources.read(request, SkillSourceBody) as (body, upload):
                names = {skill.name for skill in skills.repository.all()}
                found = find_candidates(upload.files, names, body.source_subdir, body.target_suffix)
        return {"source": _source(upload.source), "candidates": [_candidate(each) for each in found]}

    @routes.post("/skills/install", status_code=201, openapi_extra=_body(InstallSkillsBody))
    async def install_skills(request: Request, principal: Admin) -> InstalledSkillsResponse:
        """Installs the skills of a source, or those that `source_paths` names."""
        with _refusals():
            await skills.require_box()
            async with sources.read(request, InstallSkillsBody) as (body, upload):
                names = {skill.name for skill in skills.repository.all()}
                found = find_candidates(upload.files, names, body.source_subdir, body.target_suffix)
                wanted = body.source_paths
                unknown = set(wanted or ()) - {each.source_path for each in found}
                if unknown:
                    raise SkillInvalid(f"source_paths: there is no skill at '{sorted(unknown)[0][:100]}'")
                chosen = [each for each in found if wanted is None or each.source_path in wanted]
                installed = await skills.install(
                    chosen, upload.source, principal.owner, body.replace, entries(principal)
                )
        return {"items": [_response(each) for each in installed]}

    @routes.get("/skills/{name}")
    async def read_skill(name: NamePath, principal: Viewer, response: Response) -> SkillDetailResponse:
        return changed(find(name), response)

    @routes.put("/skills/{name}")
    async def replace_skill(
        name: NamePath, body: SkillChangeBody, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> SkillDetailResponse:
        skill = find(name)
        check_if_match(f"skill '{name}'", if_match, _version(skill))
        with _refusals():
            build = entries(principal)
            if body.enabled != skill.enabled:
                skill = await skills.set_enabled(skill, body.enabled, build)
            if (body.description, body.instructions) != (skill.description, skill.instructions):
                skill = await skills.write_document(skill, body.description, body.instructions, principal.owner, build)
        return changed(skill, response)

    @routes.delete("/skills/{name}", status_code=204)
    async def delete_skill(name: NamePath, principal: Admin, if_match: IfMatch = None) -> Response:
        """Deletes the skill with its files. It is not active in any conversation any more."""
        skill = find(name)
        check_if_match(f"skill '{name}'", if_match, _version(skill))
        with _refusals():
            await skills.remove(skill, entries(principal)(skill, None))
        return Response(status_code=204)

    @routes.get("/skills/{name}/files")
    async def list_skill_files(name: NamePath, principal: Viewer) -> PageResponse[SkillFileEntry]:
        """All files of the skill; there are at most 512."""
        return {"items": _entries(find(name)), "next_cursor": None}

    @routes.get("/skills/{name}/files/{path:path}")
    async def read_skill_file(name: NamePath, path: FilePath, principal: Viewer) -> SkillFileResponse:
        skill = find(name)
        entry = next((each for each in _entries(skill) if each["path"] == path), None)
        if entry is None:
            raise not_found(f"file '{path}'", f"GET /api/v1/skills/{name}/files lists them")
        with _refusals():
            content = await skills.read_file(skill, path)
        return {**entry, "text": _text(content)}

    @routes.put("/skills/{name}/files/{path:path}")
    async def write_skill_file(
        name: NamePath,
        path: FilePath,
        body: SkillFileBody,
        principal: Admin,
        response: Response,
        if_match: IfMatch = None,
    ) -> SkillDetailResponse:
        """Writes a text file, which may be SKILL.md itself. `If-Match` takes the `ETag` of the skill."""
        skill = find(name)
        check_if_match(f"skill '{name}'", if_match, _version(skill))
        with _refusals():
            content = body.text.encode("utf-8", "replace")
            return changed(await skills.write_file(skill, path, content, principal.owner, entries(principal)), response)

    @routes.delete("/skills/{name}/files/{path:path}")
    async def delete_skill_file(
        name: NamePath, path: FilePath, principal: Admin, response: Response, if_match: IfMatch = None
    ) -> SkillDetailResponse:
        skill = find(name)
        check_if_match(f"skill '{name}'", if_match, _version(skill))
        with _refusals():
            return changed(await skills.delete_file(skill, path, principal.owner, entries(principal)), response)

    return routes


def _version(skill: Skill) -> dict[str, object]:
    return {"name": skill.name, "files": skill.sha256, "enabled": skill.enabled}


def _source(source: SkillSource) -> SkillSourceResponse:
    return {"kind": source.kind, "address": source.address or None, "subfolder": source.subfolder or None}


def _response(skill: Skill) -> SkillResponse:
    return {
        "name": skill.name,
        "description": skill.description,
        "version": skill.version or None,
        "enabled": skill.enabled,
        "source": _source(skill.source),
        "sha256": skill.sha256,
        "files": len(skill.files),
        "size_bytes": skill.size_bytes,
        "installed_by": skill.installed_by or None,
        "updated_at": skill.updated_at,
    }


def _detail(skill: Skill) -> SkillDetailResponse:
    return {
        **_response(skill),
        "instructions": skill.instructions,
        "metadata": dict(skill.metadata),
        "entries": _entries(skill),
    }


def _entries(skill: Skill) -> list[SkillFileEntry]:
    return [
        {
            "path": file.path,
            "size_bytes": file.size_bytes,
            "sha256": file.sha256,
            "executable": file.executable,
        }
        for file in skill.files
    ]


def _candidate(candidate: SkillCandidate) -> SkillCandidateResponse:
    package = candidate.package
    return {
        "source_path": candidate.source_path,
        "name": candidate.target,
        "description": package.document.description if package is not None else None,
        "files": len(package.files) if package is not None else 0,
        "size_bytes": sum(len(file.content) for file in package.files.values()) if package is not None else 0,
        "sha256": package.sha256 if package is not None else None,
        "conflicts": candidate.conflicts,
        "problem": candidate.problem or None,
    }


def _text(content: bytes) -> str | None:
    if len(content) > MAX_TEXT_BYTES or b"\0" in content:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None
