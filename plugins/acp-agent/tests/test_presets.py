"""Tests that the presets and the permissions in the manifest name the same programs and commands."""

from pathlib import Path

from acp_agent.presets import CUSTOM, PRESETS

from parlour_sdk.plugin import read_plugin

MANIFEST = read_plugin(Path(__file__).parents[1]).manifest


def test_each_preset_has_a_permission_with_its_program_and_the_command_that_installs_it() -> None:
    declared = {each.name: each for each in MANIFEST.spec.permissions.processes}

    assert set(declared) == set(PRESETS)
    for name, preset in PRESETS.items():
        if name != CUSTOM:
            assert declared[name].install == preset.install
            assert preset.command in declared[name].commands
            assert declared[name].label == preset.label
