"""Runs commands in sandboxes, and writes their results as models read them."""

from collections.abc import Mapping
from typing import Any, Final

from parlour.core.model.providers import ProviderFailed
from parlour_sdk.protocol.content import TextElement
from parlour_sdk.protocol.tools import ToolOutcome

from .callers import BoxCaller
from .output_artifacts import OutputArtifacts
from .results import decoded_output, network_sentence, outcome_sentence, shorten
from .service import BoxService
from .skill_environment import environment_command
from .skill_wheels import SkillWheels
from .skills import BoxSkills

MARGIN_SECONDS: Final = 35.0
"""Seconds that a call may take beyond the time of its command: the start of the sandbox, and the answer."""
INSTALL_SECONDS: Final = 300.0
DEFAULT_PATH: Final = "/usr/local/bin:/usr/bin:/bin"


class BoxCommands:
    """The tool `exec`."""

    def __init__(self, service: BoxService, skills: BoxSkills, wheels: SkillWheels, outputs: OutputArtifacts) -> None:
        self._service = service
        self._wheels = wheels
        self._skills = skills
        self._outputs = outputs

    async def run(
        self, caller: BoxCaller, parameters: Mapping[str, Any], skill_name: str = ""
    ) -> tuple[ToolOutcome, dict[str, Any]]:
        """Runs a command. One that uses a skill gets the Python packages that the skill requires."""
        limits = caller.policy.limits
        wanted = float(parameters.get("timeout_sec") or limits.timeout_seconds)
        seconds = min(wanted, limits.max_timeout_seconds)
        request = {
            "session": caller.session.model_dump(),
            "command": parameters["command"],
            "workdir": parameters.get("workdir") or "/workspace",
            "timeout_seconds": seconds,
            "environment": await self._environment(caller, skill_name),
        }
        result = await self._service.call("box_exec", request, seconds + MARGIN_SECONDS)
        parts, refs, offline = [], [], ""
        for name in ("stdout", "stderr"):
            whole = decoded_output(result[name])
            offline = offline or network_sentence(whole, caller.session.network)
            shown = shorten(whole)
            if shown:
                parts.append(shown if name == "stdout" else f"[stderr]\n{shown}")
            if shown != whole and caller.run is not None:
                refs.append(await self._outputs.store(caller.run, f"{name}.txt", whole.encode(errors="replace")))
        clamped = (
            f"The time limit was lowered to {seconds:g} s, the most that this agent has." if wanted > seconds else ""
        )
        sentence = outcome_sentence(result, seconds)
        text = "\n".join(filter(None, [*parts, sentence, offline, clamped])) or "The command ended without output."
        failed = result["status"] != "completed" or result["code"] != 0
        outcome = ToolOutcome(
            content=[TextElement(text=text)], is_error=failed, artifact_refs=refs, truncated=bool(refs)
        )
        bytes_out = int(result["stdout"]["bytes"]) + int(result["stderr"]["bytes"])
        kept = {name: result.get(name) for name in ("status", "reason", "code", "outbox")}
        return outcome, {**kept, "bytes_out": bytes_out}

    async def _environment(self, caller: BoxCaller, skill_name: str) -> dict[str, str]:
        """Returns the variables that a skill's Python packages need. Installs the packages on first use."""
        folder = self._skills.environment_folder(skill_name) if skill_name else ""
        if not folder:
            return {}
        if caller.session.read_only:
            message = f"the skill '{skill_name}' requires Python packages, and this workspace can only be read"
            raise ProviderFailed("policy_denied", message)
        has_network = caller.session.network
        wheels = self._skills.requirements_digest(skill_name)
        request = {
            "session": caller.session.model_dump(),
            "command": environment_command(skill_name, folder, has_network, wheels),
            "timeout_seconds": INSTALL_SECONDS,
            "wheels": wheels,
        }
        reason = await self._install(request)
        hint = "" if has_network else " The sandbox has no network: only wheels that are here can be used."
        if reason and not has_network:
            missing = await self._wheels.fill(skill_name)
            reason = (
                f"{reason}\nThe Host has not downloaded them: {missing}" if missing else await self._install(request)
            )
        if reason:
            message = f"the Python packages of the skill '{skill_name}' can't be installed.{hint}\n{reason}"
            raise ProviderFailed("skill_invalid", message)
        return {"PATH": f"{folder}/bin:{DEFAULT_PATH}", "VIRTUAL_ENV": folder}

    async def _install(self, request: dict[str, Any]) -> str:
        """Makes an environment. Returns why that failed; empty if it did not."""
        result = await self._service.call("box_exec", request, INSTALL_SECONDS + MARGIN_SECONDS)
        if result["status"] == "completed" and result["code"] == 0:
            return ""
        output = decoded_output(result["stdout"]) + decoded_output(result["stderr"])
        return shorten(output.strip()) or f"the installation ended with the status {result['status']}"
