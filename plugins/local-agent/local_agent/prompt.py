"""Builds the messages before the conversation: instructions with their variables filled in, skills and a summary."""

from collections.abc import Sequence

from parlour_sdk.agents import skills
from parlour_sdk.agents.template_variables import TemplateVariables
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.resources import SkillResource


class Prompt:
    def __init__(
        self, parts: Sequence[tuple[str, str]], granted: Sequence[SkillResource], variables: TemplateVariables
    ) -> None:
        self._parts = [(role, variables.fill(text)) for role, text in parts]
        self._skills = skills.prompt_section(granted)

    def messages(self, summary: str = "") -> list[Message]:
        """Returns one system message, because not every model accepts several, and then the examples."""
        instructions = [text for role, text in self._parts if role == "system"]
        summary_text = f"What was said before, in short:\n{summary}" if summary else ""
        system_text = "\n\n".join(part for part in (*instructions, self._skills, summary_text) if part)
        examples = [self._example(role, text) for role, text in self._parts if role != "system"]
        return [*([Message(role="system", content=system_text)] if system_text else []), *examples]

    def _example(self, role: str, text: str) -> Message:
        return Message(role="assistant" if role == "assistant" else "user", content=text)
