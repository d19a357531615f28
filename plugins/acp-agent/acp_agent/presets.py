"""The harnesses that are known: how each is started, installed, and told which model it uses."""

import json
from collections.abc import Callable
from dataclasses import field

from parlour_sdk.protocol.processes import ProcessFile
from parlour_sdk.values import dataclass

from .config import HarnessConfig

CUSTOM = "other"
"""The preset whose command the operator names."""
NODE = "@24"
"""Version of Node.js that runs all harnesses."""

Variables = Callable[[HarnessConfig], dict[str, str]]
Files = Callable[[HarnessConfig], list[ProcessFile]]


def _no_variables(config: HarnessConfig) -> dict[str, str]:
    return {}


def _no_files(config: HarnessConfig) -> list[ProcessFile]:
    return []


@dataclass(frozen=True, slots=True)
class Preset:
    """One harness."""

    name: str
    label: str
    command: str
    arguments: tuple[str, ...] = ()
    install: str = ""
    """Command that installs it."""
    mode: str = ""
    """Session mode in which it asks before it changes anything. It is set at every new and every resumed session."""
    auth_method: str = ""
    """Method of `authenticate`, if the harness needs the call."""
    variables: Variables = field(default=_no_variables)
    files: Files = field(default=_no_files)


def _key(config: HarnessConfig) -> str:
    return config.api_key.get_secret_value()


def _filled(**values: str) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}


def _claude_variables(config: HarnessConfig) -> dict[str, str]:
    return {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "ENABLE_TOOL_SEARCH": "false",
        **_filled(ANTHROPIC_BASE_URL=config.base_url, ANTHROPIC_API_KEY=_key(config), ANTHROPIC_MODEL=config.model),
    }


def _codex_variables(config: HarnessConfig) -> dict[str, str]:
    return {"INITIAL_AGENT_MODE": "read-only", "CODEX_HOME": "{home}/.codex", **_filled(OPENAI_API_KEY=_key(config))}


def _codex_files(config: HarnessConfig) -> list[ProcessFile]:
    lines = ["check_for_update_on_startup = false"]
    if config.model:
        lines.append(f"model = {json.dumps(config.model)}")
    if config.base_url:
        lines.append('model_provider = "parlour"')
    lines += ["[analytics]", "enabled = false"]
    if config.base_url:
        lines += [
            "[model_providers.parlour]",
            'name = "parlour"',
            f"base_url = {json.dumps(config.base_url)}",
            'wire_api = "responses"',
            'env_key = "OPENAI_API_KEY"',
            "requires_openai_auth = false",
        ]
    return [ProcessFile(place="home", path=".codex/config.toml", text="\n".join(lines) + "\n")]


def _gemini_variables(config: HarnessConfig) -> dict[str, str]:
    return {
        "GEMINI_CLI_NO_RELAUNCH": "true",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        **_filled(GEMINI_API_KEY=_key(config), GOOGLE_GEMINI_BASE_URL=config.base_url, GEMINI_MODEL=config.model),
    }


def _settings(path: str, auth: str) -> Files:
    content = {
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "security": {"auth": {"selectedType": auth}},
    }
    return lambda config: [ProcessFile(place="home", path=path, text=json.dumps(content))]


def _kimi_variables(config: HarnessConfig) -> dict[str, str]:
    return {"KIMI_CODE_HOME": "{home}/.kimi-code", "KIMI_CODE_NO_AUTO_UPDATE": "1"}


def _kimi_files(config: HarnessConfig) -> list[ProcessFile]:
    if not config.base_url:
        return []
    quoted = {name: json.dumps(text) for name, text in (("url", config.base_url), ("key", _key(config)))}
    model = json.dumps(config.model or "default")
    text = f"""default_model = "parlour"
telemetry = false
[providers.parlour]
type = "openai"
base_url = {quoted["url"]}
api_key = {quoted["key"]}
[models.parlour]
provider = "parlour"
model = {model}
max_context_size = 128000
capabilities = ["tool_use"]
"""
    return [ProcessFile(place="home", path=".kimi-code/config.toml", text=text)]


def _qwen_variables(config: HarnessConfig) -> dict[str, str]:
    return {
        "QWEN_CODE_NO_RELAUNCH": "true",
        **_filled(OPENAI_API_KEY=_key(config), OPENAI_BASE_URL=config.base_url, OPENAI_MODEL=config.model),
    }


def _opencode_variables(config: HarnessConfig) -> dict[str, str]:
    names = ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "LSP_DOWNLOAD")
    return {f"OPENCODE_DISABLE_{name}": "1" for name in names}


def _opencode_files(config: HarnessConfig) -> list[ProcessFile]:
    content: dict[str, object] = {
        "autoupdate": False,
        "share": "disabled",
        "permission": {"edit": "ask", "bash": "ask", "webfetch": "ask"},
    }
    if config.base_url:
        model = config.model or "default"
        content |= {
            "model": f"parlour/{model}",
            "small_model": f"parlour/{model}",
            "enabled_providers": ["parlour"],
            "provider": {
                "parlour": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": config.base_url, "apiKey": _key(config)},
                    "models": {model: {}},
                }
            },
        }
    elif config.model:
        content["model"] = config.model
    return [ProcessFile(place="home", path=".config/opencode/opencode.json", text=json.dumps(content))]


def _goose_variables(config: HarnessConfig) -> dict[str, str]:
    provider = {"GOOSE_PROVIDER": "openai", "OPENAI_HOST": config.base_url} if config.base_url else {}
    return {
        "GOOSE_MODE": "approve",
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        **provider,
        **_filled(GOOSE_MODEL=config.model, OPENAI_API_KEY=_key(config)),
    }


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "claude-code",
            "Claude Code",
            "claude-agent-acp",
            install="npm install -g node@24 @agentclientprotocol/claude-agent-acp",
            mode="default",
            variables=_claude_variables,
        ),
        Preset(
            "codex",
            "Codex",
            "codex-acp",
            install="npm install -g node@24 @agentclientprotocol/codex-acp",
            mode="read-only",
            variables=_codex_variables,
            files=_codex_files,
        ),
        Preset(
            "gemini",
            "Gemini CLI",
            "gemini",
            ("--acp",),
            install="npm install -g node@24 @google/gemini-cli",
            mode="default",
            auth_method="gemini-api-key",
            variables=_gemini_variables,
            files=_settings(".gemini/settings.json", "gemini-api-key"),
        ),
        Preset(
            "kimi",
            "Kimi Code",
            "kimi",
            ("acp",),
            install="npm install -g node@24 @moonshot-ai/kimi-code",
            mode="default",
            variables=_kimi_variables,
            files=_kimi_files,
        ),
        Preset(
            "qwen",
            "Qwen Code",
            "qwen",
            ("--acp",),
            install="npm install -g node@24 @qwen-code/qwen-code",
            mode="default",
            variables=_qwen_variables,
            files=_settings(".qwen/settings.json", "openai"),
        ),
        Preset(
            "opencode",
            "OpenCode",
            "opencode",
            ("acp",),
            install="npm install -g opencode-ai",
            mode="build",
            variables=_opencode_variables,
            files=_opencode_files,
        ),
        Preset(
            "goose",
            "Goose",
            "goose",
            ("acp",),
            install="npm install -g @aaif/goose",
            mode="approve",
            variables=_goose_variables,
        ),
        Preset(CUSTOM, "The coding agent", ""),
    )
}
