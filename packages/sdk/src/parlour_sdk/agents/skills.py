"""Skills: the prompt lists their names and descriptions, and the model activates one by a special tool."""

from collections.abc import Sequence
from typing import Any

from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.resources import SkillResource
from parlour_sdk.protocol.tools import ToolOutcome

TOOL_NAME = "activate_skill"


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


async def activate(api: AgentRunAPI, parameters: dict[str, Any]) -> ToolOutcome:
    """Executes the tool: returns the instructions of the skill that the model named."""
    name = parameters.get("name")
    if not isinstance(name, str) or not name:
        return ToolOutcome(content=[TextElement(text=f"{TOOL_NAME} needs the name of a skill")], is_error=True)
    skill = await api.skills.activate(name)
    files = f"\n\nFiles of this skill: {', '.join(skill.files)}" if skill.files else ""
    return ToolOutcome(content=[TextElement(text=f"{skill.instructions}{files}")])
