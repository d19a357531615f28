"""Tests reading of plugin folders: valid ones are described, invalid ones are refused with file, field and remedy."""

from pathlib import Path

import pytest

from parlour_sdk.components import AgentRunner
from parlour_sdk.plugin import PluginInvalid, load_runners, read_plugin
from parlour_sdk.protocol.manifest import AgentRunnerManifest


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def refusal(folder: Path) -> str:
    with pytest.raises(PluginInvalid) as invalid:
        load_runners(read_plugin(folder))
    assert invalid.value.code == "plugin_invalid"
    return str(invalid.value)


def test_a_valid_folder_is_read_without_running_its_code(folder: Path) -> None:
    (folder / "runner.py").write_text("raise SystemExit('the code was run')")
    plugin = read_plugin(folder)
    assert plugin.manifest.identity == "acme/hello"
    assert [component.manifest.kind for component in plugin.components] == ["AgentRunner"]


def test_a_runner_has_a_valid_manifest(folder: Path) -> None:
    manifests = read_plugin(folder).runner_manifests()
    manifest = AgentRunnerManifest.model_validate(manifests["default"])
    assert manifest.id == "plugin:acme/hello/default"
    assert manifest.capabilities.streaming


def test_a_runner_without_a_label_has_its_name_as_label(folder: Path) -> None:
    change(folder / "runner.yaml", ", label: {en_US: Hello}", "")
    assert read_plugin(folder).runner_manifests()["default"]["label"] == {"en_US": "default"}


def test_a_plugin_may_have_no_components(folder: Path) -> None:
    change(folder / "manifest.yaml", "[runner.yaml]", "[]")
    assert load_runners(read_plugin(folder)) == {}


def test_a_runner_is_loaded_and_created(folder: Path) -> None:
    runners = load_runners(read_plugin(folder))
    assert list(runners) == ["default"]
    assert isinstance(runners["default"], AgentRunner)


def test_a_plugins_code_may_import_its_own_modules(folder: Path) -> None:
    (folder / "own_words_of_hello.py").write_text("GREETING = 'hi'")
    change(
        folder / "runner.py",
        "from parlour_sdk import results",
        "import own_words_of_hello\nfrom parlour_sdk import results",
    )
    assert load_runners(read_plugin(folder))


def test_unknown_fields_of_a_newer_manifest_are_ignored(folder: Path) -> None:
    change(folder / "manifest.yaml", "spec:", "homepage: https://example.org\nspec:")
    assert read_plugin(folder).manifest.identity == "acme/hello"


UNKNOWN = {
    "a limit": ("manifest.yaml", "spec:", "spec:\n  limits: {memory_md: 4}", "6: spec.limits.memory_md", "memory_mb"),
    "a head": ("manifest.yaml", "spec:", "homepage: x\nspec:", "5: homepage", ""),
    "a piece of metadata": (
        "manifest.yaml",
        "version: 0.1.0",
        "version: 0.1.0, lable: {}",
        "4: metadata.lable",
        "label",
    ),
    "a runner's": ("runner.yaml", "spec:", "spec:\n  colour: red", "6: spec.colour", ""),
    "a policy's": (
        "runner.yaml",
        "spec:",
        "spec:\n  context: {ownerhip: hybrid}",
        "6: spec.context.ownerhip",
        "ownership",
    ),
}


def test_a_requirements_file_that_the_manifest_does_not_name_has_a_warning(folder: Path) -> None:
    (folder / "requirements.txt").write_text("httpx\n")
    [warning] = read_plugin(folder).warnings
    assert warning.endswith("nothing of it is installed; add `requirements: requirements.txt`")


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_key_is_ignored_with_a_warning_and_a_suggestion(folder: Path, case: str) -> None:
    file, old, new, where, suggestion = UNKNOWN[case]
    change(folder / file, old, new)
    plugin = read_plugin(folder)
    [warning] = plugin.warnings
    assert warning.startswith(f"{folder / file}:{where}: an unknown key, passed over")
    assert (f"did you mean {suggestion}?" in warning) == bool(suggestion)
    AgentRunnerManifest.model_validate(plugin.runner_manifests()["default"])
    assert load_runners(plugin)


MANIFESTS = {
    "no version": (", version: 0.1.0", "", "metadata.version: Field required"),
    "no author": ("author: acme, ", "", "metadata.author: Field required"),
    "another api": ("parlour/v1", "parlour/v9", "apiVersion: Input should be 'parlour/v1'"),
    "another kind": ("kind: Plugin", "kind: Virus", "kind: Input should be 'Plugin'"),
    "unknown permission": ("spec:", "spec:\n  permissions: {teleport: [all]}", "spec.permissions.teleport"),
    "components of another shape": ("[runner.yaml]", "runner.yaml", "spec.components"),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_an_invalid_manifest_is_refused_with_file_and_field(folder: Path, case: str) -> None:
    old, new, expected = MANIFESTS[case]
    change(folder / "manifest.yaml", old, new)
    message = refusal(folder)
    assert str(folder / "manifest.yaml") in message
    assert expected in message


COMPONENTS = {
    "no name": ("name: default, ", "", "metadata.name: Field required"),
    "another kind": ("kind: AgentRunner", "kind: Dancer", "kind: Input should be 'AgentRunner'"),
    "no execution": ("execution:\n  python: {path: runner.py, attr: Runner}", "", "execution: Field required"),
    "no python": ("python: {path: runner.py, attr: Runner}", "requirements: r.txt", "execution.python is missing"),
    "no class": ("attr: Runner", "attr: Walker", "no class 'Walker' derived from AgentRunner"),
    "another class": ("attr: Runner", "attr: NotARunner", "no class 'NotARunner' derived from AgentRunner"),
    "no file": ("path: runner.py", "path: walker.py", "execution.python.path names walker.py"),
    "no python file": ("path: runner.py", "path: runner.yaml", "execution.python.path names runner.yaml"),
    "code elsewhere": ("path: runner.py", "path: ../runner.py", "'../runner.py' leaves the plugin's folder"),
}


@pytest.mark.parametrize("case", COMPONENTS)
def test_an_invalid_component_is_refused_with_file_and_field(folder: Path, case: str) -> None:
    old, new, expected = COMPONENTS[case]
    change(folder / "runner.yaml", old, new)
    message = refusal(folder)
    assert str(folder / "runner.yaml") in message
    assert expected in message


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("capabilities: {flying: true}", "capabilities.flying"),
        ("capabilities: {streaming: 'yes'}", "capabilities.streaming"),
        ("permissions: {models: [steal]}", "permissions.models.0"),
        ("config_schema: [{name: x, type: string}]", "config_schema.0.label"),
        ("config_schema: [{name: x, label: {}, type: knob}]", "config_schema.0.type"),
    ],
)
def test_an_invalid_runner_manifest_is_refused_with_file_and_field(folder: Path, spec: str, expected: str) -> None:
    change(folder / "runner.yaml", "capabilities: {streaming: true}", spec)
    message = refusal(folder)
    assert str(folder / "runner.yaml") in message
    assert expected in message


def test_a_run_method_that_is_not_an_async_generator_is_refused_with_the_remedy(folder: Path) -> None:
    change(folder / "runner.yaml", "attr: Runner", "attr: Plain")
    message = refusal(folder)
    assert "runner.py" in message
    assert "Plain.run must be an async generator: `async def` with `yield`" in message


def test_two_runners_with_the_same_name_are_refused(folder: Path) -> None:
    (folder / "second.yaml").write_text((folder / "runner.yaml").read_text())
    change(folder / "manifest.yaml", "[runner.yaml]", "[runner.yaml, second.yaml]")
    message = refusal(folder)
    assert str(folder / "second.yaml") in message
    assert "give each its own metadata.name" in message


def test_a_component_outside_the_folder_is_refused(folder: Path) -> None:
    change(folder / "manifest.yaml", "[runner.yaml]", "[../evil.yaml]")
    assert "'../evil.yaml' leaves the plugin's folder; use a path inside it" in refusal(folder)


def test_a_link_to_a_file_outside_the_folder_is_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "runner.yaml"
    outside.write_text((folder / "runner.yaml").read_text())
    (folder / "runner.yaml").unlink()
    (folder / "runner.yaml").symlink_to(outside)
    assert "leaves the plugin's folder" in refusal(folder)


def test_a_missing_component_file_is_named(folder: Path) -> None:
    (folder / "runner.yaml").unlink()
    assert f"{folder / 'runner.yaml'} can't be read: No such file" in refusal(folder)


@pytest.mark.parametrize("content", [b"]", b"a: b: c", b"\xff\xfe\x00"], ids=["bracket", "colons", "bytes"])
def test_a_manifest_that_is_not_yaml_is_refused_in_one_line(folder: Path, content: bytes) -> None:
    (folder / "manifest.yaml").write_bytes(content)
    message = refusal(folder)
    assert message.startswith(f"{folder / 'manifest.yaml'} is not YAML")
    assert "\n" not in message


@pytest.mark.parametrize("content", ["", "[]", "words", "5"])
def test_a_manifest_that_is_not_a_mapping_is_refused(folder: Path, content: str) -> None:
    (folder / "manifest.yaml").write_text(content)
    assert f"{folder / 'manifest.yaml'}: the file: " in refusal(folder)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    assert "manifest.yaml can't be read" in refusal(tmp_path)


def test_a_path_that_is_not_a_folder_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for path in (file, tmp_path / "nowhere"):
        assert "is not a folder; a plugin is a folder with a manifest.yaml" in refusal(path)


def test_a_failed_import_leaves_no_partial_module(folder: Path) -> None:
    plugin = read_plugin(folder)
    (folder / "runner.py").write_text("class Runner:\n    pass\nimport no_such_module_at_all\n")
    for _ in range(2):
        with pytest.raises(PluginInvalid, match="no_such_module_at_all"):
            load_runners(plugin)


def test_two_plugins_in_one_process_have_separate_code(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    for file in folder.iterdir():
        (other / file.name).write_text(file.read_text())
    one, two = (load_runners(read_plugin(each))["default"] for each in (folder, other))
    assert type(one) is not type(two)
