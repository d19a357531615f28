"""Source of the tools by which agents write skills, for runners of authors whose box policy allows it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from parlour.core.access import audit
from parlour.core.box.policy import SKILL_TOOLS
from parlour.core.errors import CallRejected
from parlour.core.journal import Insert
from parlour.core.model.ports import Clock
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.model.skill import Skill, SkillSource
from parlour.core.skills.document import DOCUMENT
from parlour.core.skills.limits import MAX_FILES, MAX_TEXT_BYTES, MAX_TOTAL_BYTES, SkillInvalid
from parlour.core.skills.package import Files, PackageFile, build_package
from parlour.core.skills.service import BuildEntry, SkillService, audited
from parlour_sdk.protocol.tools import ToolOutcome

from ..tools.source import OfferedTool, error_outcome, text_outcome
from .callers import BoxCaller, BoxCallers
from .files import BoxFiles

PROVIDER: Final = "the skills"


def _tool(tool_name: str, description: str, required: list[str], **properties: Any) -> OfferedTool:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return OfferedTool(f"skills.{tool_name}", "skill", PROVIDER, description, schema, False)


DEFINITIONS: Final = (
    _tool(
        "register_skill",
        f"Installs a folder of the sandbox as a skill for later conversations. The folder has a {DOCUMENT} with front "
        "matter (name, which is that of the folder, and description), then instructions, and other files if needed.",
        ["path"],
        path={"type": "string", "minLength": 1, "description": "Folder below /workspace."},
    ),
    _tool(
        "edit_skill",
        "Writes one text file of an installed skill, or replaces a text that occurs in it exactly once.",
        ["name", "path"],
        name={"type": "string", "description": "Name of the skill."},
        path={"type": "string", "description": f"File of the skill, such as {DOCUMENT}."},
        content={"type": "string", "description": "The whole new content."},
        old={"type": "string", "minLength": 1, "description": "Text to replace, instead of content."},
        new={"type": "string", "description": "What takes its place."},
    ),
)


class SkillTools:
    """The tools `skills.register_skill` and `skills.edit_skill`, which are offered while the Box is ready."""

    def __init__(
        self,
        skills: SkillService,
        callers: BoxCallers,
        files: BoxFiles,
        is_ready: Callable[[], bool],
        clock: Clock,
    ) -> None:
        self._skills = skills
        self._callers = callers
        self._files = files
        self._is_ready = is_ready
        self._clock = clock

    def tools(self) -> Sequence[OfferedTool]:
        return DEFINITIONS if self._is_ready() else ()

    async def call(self, context: CallContext, tool_name: str, parameters: dict[str, Any]) -> ToolOutcome:
        caller = await self._callers.find(context)
        if not caller.policy.author_skills:
            raise ProviderFailed("policy_denied", f"the agent's box policy does not allow {', '.join(SKILL_TOOLS)}")
        try:
            if tool_name == "skills.register_skill":
                skill = await self._register(context, caller, parameters)
                return text_outcome(f"Installed the skill {skill.name} with {len(skill.files)} files.")
            skill = await self._edit(context, parameters)
            return text_outcome(f"Changed {parameters['path']} of the skill {skill.name}.")
        except (SkillInvalid, CallRejected, ProviderFailed) as refusal:
            return error_outcome(str(refusal))

    async def _register(self, context: CallContext, caller: BoxCaller, parameters: Mapping[str, Any]) -> Skill:
        folder = str(parameters["path"]).rstrip("/")
        package = build_package(await self._read(caller, folder))
        source, author = SkillSource("agent", folder), _author(context)
        before = self._skills.repository.get(package.document.name)
        if before is None:
            return await self._skills.add(package, source, author, self._entry(context))
        if before.installed_by != author:
            message = f"there is a skill '{before.name}' that this agent did not write; choose another name"
            raise CallRejected("exists", message)
        return await self._skills.replace_package(before, package, author, self._entry(context))

    async def _edit(self, context: CallContext, parameters: Mapping[str, Any]) -> Skill:
        before, path = self._skills.get(str(parameters["name"])), str(parameters["path"])
        author = _author(context)
        if before.installed_by != author:
            raise CallRejected(
                "policy_denied", f"this agent did not write the skill '{before.name}', so it stays as it is"
            )
        content, old = parameters.get("content"), parameters.get("old")
        if (content is None) == (old is None):
            raise SkillInvalid("give either content, or old and new")
        if content is None:
            text = (await self._skills.read_file(before, path)).decode(errors="replace")
            if text.count(str(old)) != 1:
                raise SkillInvalid(f"the text old occurs {text.count(str(old))} times in {path}; it must occur once")
            content = text.replace(str(old), str(parameters.get("new", "")))
        data = str(content).encode(errors="replace")
        return await self._skills.write_file(before, path, data, author, self._entry(context))

    async def _read(self, caller: BoxCaller, folder: str) -> Files:
        """Reads a folder of the sandbox. Links are refused."""
        files: dict[str, PackageFile] = {}
        pending, total = [""], 0
        while pending:
            parent = pending.pop()
            listing = await self._files.request(caller.session, "list", path=f"{folder}/{parent}".rstrip("/"))
            for entry in listing["items"]:
                path = f"{parent}/{entry['name']}".lstrip("/")
                if entry["kind"] == "folder":
                    pending.append(path)
                    continue
                total += int(entry["size"])
                if entry["kind"] != "file" or len(files) == MAX_FILES or total > MAX_TOTAL_BYTES:
                    raise SkillInvalid(f"{path} is a link, or the folder is larger than a skill may be")
                content = await self._files.read_whole(caller.session, f"{folder}/{path}", MAX_TEXT_BYTES)
                files[path] = PackageFile(content, content.startswith(b"#!"))
        return files

    def _entry(self, context: CallContext) -> BuildEntry:
        def build(before: Skill | None, after: Skill | None) -> Insert:
            was, becomes = (audited(each) if each is not None else None for each in (before, after))
            name = after.name if after is not None else ""
            verb = "create" if before is None else "replace"
            return audit.change_entry(_author(context), f"skill.{verb}", name, was, becomes, self._clock.now())

        return build


def _author(context: CallContext) -> str:
    return f"agent:{context.agent_id}"
