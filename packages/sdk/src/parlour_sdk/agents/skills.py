"""Skills: the prompt lists their names and descriptions, and the model activates one by a special tool."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from parlour_sdk.api import AgentAPIException, AgentRunAPI
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.resources import SkillResource
from parlour_sdk.protocol.skills import ActiveSkill
from parlour_sdk.protocol.tools import ToolOutcome

from .errors import ends_run

logger = logging.getLogger(__name__)

TOOL_NAME = "activate_skill"
MAX_ACTIVE: Final = 8
"""Active skills whose instructions a prompt repeats."""


def prompt_section(skills: Sequence[SkillResource]) -> str:
    """Returns the section of the prompt that lists the skills; empty if there are none."""
    if not skills:
        return ""
    skill_lines = "\n".join(
        ": ".join(part for part in (f"- {each.skill_name}", each.description) if part) for each in skills
    )
    return f"You have skills. When one fits, take it up with the tool {TOOL_NAME} before you go on:\n{skill_lines}"


def definition(skills: Sequence[SkillResource]) -> ToolDefinition:
    """Returns the tool by which the model activates one of the skills."""
    return ToolDefinition(
        name=TOOL_NAME,
        description="Takes up a skill: gives its instructions, and the names of its files.",
        parameters_schema={
            "type": "object",
            "properties": {"name": {"type": "string", "enum": [each.skill_name for each in skills]}},
            "required": ["name"],
        },
    )


async def active_section(ctx: AgentRunContext, api: AgentRunAPI) -> str:
    """Returns the section of the prompt with the skills that are active in the conversation; empty if none is.

    A skill that can't be read any more is left out.
    """
    if not ctx.resources.skills:
        return ""
    try:
        names = [each.skill_name for each in await api.skills.list() if each.active]
    except AgentAPIException as error:
        if ends_run(error, ctx):
            raise
        logger.warning("run %s: the active skills can't be read: %s", ctx.run_id, error)
        return ""
    texts: list[str] = []
    for name in names[:MAX_ACTIVE]:
        try:
            skill = await api.skills.activate(name)
        except AgentAPIException as error:
            if ends_run(error, ctx):
                raise
            logger.warning("run %s: the skill %s is left out: %s", ctx.run_id, name, error)
            continue
        texts.append(f'<skill name="{name}">\n{_describe(skill)}\n</skill>')
    return "\n".join(["You have already activated these skills in this conversation:", *texts]) if texts else ""


async def activate(api: AgentRunAPI, parameters: dict[str, Any]) -> ToolOutcome:
    """Executes the tool: returns the instructions of the skill that the model named."""
    name = parameters.get("name")
    if not isinstance(name, str) or not name:
        return ToolOutcome(content=[TextElement(text=f"{TOOL_NAME} needs the name of a skill")], is_error=True)
    skill = await api.skills.activate(name)
    return ToolOutcome(content=[TextElement(text=_describe(skill))])


def _describe(skill: ActiveSkill) -> str:
    files = f"\n\nFiles of this skill: {', '.join(skill.files)}" if skill.files else ""
    return f"{skill.instructions}{files}"
