"""Box policies and session templates: what an agent gets, and which messages share a sandbox."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.box.policy import BoxPolicy
from parlour.core.box.session_template import VARIABLES, find_problem, render
from parlour.core.errors import CallRejected
from parlour.providers.box.callers import session_spec
from parlour.providers.box.results import MAX_OUTPUT_CHARACTERS, network_sentence, shorten

VALUES = {name: f"<{name}>" for name in VARIABLES}


def test_policy_without_tools_gives_none() -> None:
    assert BoxPolicy().tool_names == frozenset()


def test_read_only_policy_leaves_writing_tools_out() -> None:
    tools = ("exec", "read", "write", "edit")
    for policy in (BoxPolicy(tools, read_only=True), BoxPolicy(tools, profile="offline_readonly")):
        assert policy.tool_names == {"box.exec", "box.read"}


@pytest.mark.parametrize(
    ("profile", "network", "expected"),
    [
        ("default", None, False),
        ("default", True, False),
        ("network_basic", None, True),
        ("network_basic", False, False),
        ("offline_readonly", True, False),
    ],
)
def test_locked_fields_of_a_profile_win(profile: str, network: bool | None, expected: bool) -> None:
    assert BoxPolicy(profile=profile, network=network).has_network is expected


def test_contradiction_of_a_locked_field_is_a_problem() -> None:
    assert [field for field, _ in BoxPolicy(network=True).problems()] == ["network"]
    assert BoxPolicy(network=True, profile="network_basic").problems() == []


@pytest.mark.parametrize("profile", ["default", "network_basic", "network_extended"])
def test_files_of_the_machine_are_locked_by_the_profile(profile: str) -> None:
    policy = BoxPolicy(profile=profile, host_path="/srv/manuals")
    assert [field for field, _ in policy.problems()] == ["host_path"]
    assert session_spec(policy, "a", "default") == session_spec(BoxPolicy(profile=profile), "a", "default")


def test_profile_that_only_reads_shows_a_path_in_a_session_of_its_own() -> None:
    policy = BoxPolicy(profile="offline_readonly", host_path="/srv/manuals")
    assert policy.problems() == []
    shown = session_spec(policy, "a", "default")
    assert (shown.mounts, shown.read_only) == (["/srv/manuals"], True)
    assert shown.session_id != session_spec(BoxPolicy(profile="offline_readonly"), "a", "default").session_id


@pytest.mark.parametrize("path", ["srv/manuals", "/srv/../etc", "/srv/", "/srv//x", "/srv\0"])
def test_path_with_detours_is_a_problem(path: str) -> None:
    policy = BoxPolicy(profile="offline_readonly", host_path=path)
    assert [field for field, _ in policy.problems()] == ["host_path"]


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        ("ls", False),
        ("rm x", True),
        ("  rm x", True),
        ("true && rm x", True),
        ("ls; rm x", True),
        ("echo $(rm x)", True),
        ("ls\nrm x", True),
        ("echo x | rm y", True),
        ("farm x", False),
    ],
)
def test_command_patterns_are_compared_with_each_part_of_a_command(command: str, asks: bool) -> None:
    policy = BoxPolicy(("exec",), ask=("rm *",))
    assert policy.asks("box.exec", {"command": command}) is asks
    assert not policy.asks("box.read", {"path": command})


@pytest.mark.parametrize("template", ["{who}", "chat", "{launcher_id", "launcher_id}", "{}", "{ global }"])
def test_wrong_template_is_a_problem(template: str) -> None:
    assert find_problem(template)


@pytest.mark.parametrize(
    "template",
    ["{launcher_type}_{launcher_id}", "{sender_id}", "{run_id}", "{global}", "x-{conversation_id}-{thread_id}"],
)
def test_template_is_filled_in(template: str) -> None:
    assert find_problem(template) == ""
    assert "{" not in render(template, VALUES)


def test_template_never_fills_in_a_variable_that_is_missing() -> None:
    with pytest.raises(CallRejected, match="has no sender_id"):
        render("{sender_id}", {**VALUES, "sender_id": ""})


def test_sessions_differ_by_workspace_profile_and_chat() -> None:
    basic: dict[str, Any] = {"tools": ("exec",)}
    specs = [
        session_spec(BoxPolicy(**basic), "a", "default"),
        session_spec(BoxPolicy(**basic), "b", "default"),
        session_spec(BoxPolicy(**basic), "a", "other"),
        session_spec(BoxPolicy(**basic, profile="network_basic"), "a", "default"),
        session_spec(BoxPolicy(**basic, read_only=True), "a", "default"),
    ]
    assert len({spec.session_id for spec in specs}) == len(specs)
    assert specs[0] == session_spec(BoxPolicy(("read",)), "a", "default"), "tools make no other session"


@given(st.text(max_size=20_000))
def test_shortened_output_keeps_both_ends_and_counts_the_rest(text: str) -> None:
    short = shorten(text)
    if len(text) <= MAX_OUTPUT_CHARACTERS:
        assert short == text
    else:
        assert short.startswith(text[:2400])
        assert short.endswith(text[-1600:])
        assert f"[{len(text) - MAX_OUTPUT_CHARACTERS} characters left out]" in short


@pytest.mark.parametrize(
    "output",
    [
        "connect: Network is unreachable",
        "curl: (6) Could not resolve host: example.org",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "Error: getaddrinfo EAI_AGAIN registry.npmjs.org",
    ],
)
def test_missing_network_is_named_where_a_program_needed_it(output: str) -> None:
    assert network_sentence(output, has_network=False) == "This sandbox has no network."
    assert network_sentence(output, has_network=True) == ""
    assert network_sentence("all is well", has_network=False) == ""
