"""Tests settings: the order of file, environment and command line, and errors that name the key."""

from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from parlour.app import settings_file
from parlour.app.settings import ConfigurationInvalid, HostSettings
from parlour.app.settings_loader import default_data_directory, load


def write(folder: Path, text: str) -> Path:
    file = folder / "parlour.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def refusal(file: Path | None = None, **environment: str) -> str:
    with pytest.raises(ConfigurationInvalid) as invalid:
        load(file, {}, environment)
    return str(invalid.value)


def test_settings_have_defaults() -> None:
    settings = load(None, {"data": "data"}, {})
    assert settings == HostSettings()
    assert (settings.http.host, settings.http.port, settings.runs.concurrent) == ("127.0.0.1", 5300, 256)


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, "/home/ann/.local/share/parlour"),
        ("linux", {"XDG_DATA_HOME": "/srv/ann"}, "/srv/ann/parlour"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "/home/ann/.local/share/parlour"),
        ("darwin", {}, "/home/ann/Library/Application Support/Parlour"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/Parlour"),
        ("win32", {}, "/home/ann/AppData/Local/Parlour"),
    ],
)
def test_data_is_in_the_users_folder_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert default_data_directory({"HOME": "/home/ann", **environment}, platform) == Path(folder)


def test_data_stays_in_the_current_folder_where_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert load(None, {}, {"HOME": "/home/ann"}).data == Path("data")


def test_settings_that_the_file_does_not_name_keep_their_defaults(tmp_path: Path) -> None:
    settings = load(write(tmp_path, "http: {port: 8080}\ndata: /srv/parlour\n"), {}, {})
    assert (settings.http.port, settings.http.host, settings.data) == (8080, "127.0.0.1", Path("/srv/parlour"))


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path) -> None:
    file = write(tmp_path, "http: {port: 1, host: file}\nruns: {concurrent: 3}\n")
    environment = {"PARLOUR__HTTP__PORT": "2", "PARLOUR__HTTP__HOST": "environment", "OTHER": "x"}
    settings = load(file, {"http.port": 4, "http.host": None}, environment)
    assert (settings.http.port, settings.http.host, settings.runs.concurrent) == (4, "environment", 3)


def test_an_empty_file_changes_no_setting(tmp_path: Path) -> None:
    assert load(write(tmp_path, "# nothing yet\n"), {"data": "data"}, {}) == HostSettings()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("http: {port: ninety}", "http.port"),
        ("http: {port: 70000}", "http.port"),
        ("http: {prot: 80}", "http.prot"),
        ("runs: {concurrent: 0}", "runs.concurrent"),
        ("plugins: {start_seconds: 0}", "plugins.start_seconds"),
        ("tools: {allowed_addresses: [10.0.0.0/33]}", "tools.allowed_addresses"),
        ("""tools: {allowed_addresses: '["127.0.0.1"]'}""", "tools.allowed_addresses"),
        ("colour: red", "colour"),
        ("http: 5", "http"),
    ],
)
def test_an_invalid_value_in_the_file_is_reported_with_its_key(tmp_path: Path, text: str, named: str) -> None:
    assert f"'{named}'" in refusal(write(tmp_path, text))


def test_an_invalid_value_in_the_environment_is_reported_with_its_key() -> None:
    assert "'runs.per_person'" in refusal(PARLOUR__RUNS__PER_PERSON="many")
    assert "'colour'" in refusal(PARLOUR__COLOUR="red")


def test_an_error_does_not_repeat_the_value() -> None:
    assert "hunter2" not in refusal(PARLOUR__HTTP__PORT="hunter2")


def test_a_variable_for_a_key_that_is_not_a_section_is_refused(tmp_path: Path) -> None:
    message = refusal(write(tmp_path, "http: 5"), PARLOUR__HTTP__PORT="1")
    assert "PARLOUR__HTTP__PORT" in message
    assert "'http'" in message


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words", "]", "a: b: c"])
def test_a_file_that_is_not_a_yaml_mapping_is_named(tmp_path: Path, text: str) -> None:
    assert "parlour.yaml" in refusal(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "nowhere.yaml can't be read" in refusal(tmp_path / "nowhere.yaml")


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "parlour.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    assert "parlour.yaml" in refusal(file)


@pytest.mark.parametrize("word", ["auto", "required", "off", "'off'"])
def test_each_sandbox_mode_is_accepted_in_a_file(tmp_path: Path, word: str) -> None:
    settings = load(write(tmp_path, f"plugins: {{sandbox: {word}, bubblewrap: /opt/bwrap}}\n"), {}, {})

    assert settings.plugins.sandbox == word.strip("'")
    assert settings.plugins.bubblewrap == Path("/opt/bwrap")


def test_an_unknown_sandbox_mode_is_refused_with_the_accepted_ones(tmp_path: Path) -> None:
    for word in ("on", "maybe"):
        sentence = refusal(write(tmp_path, f"plugins: {{sandbox: {word}}}\n"))
        assert "plugins.sandbox" in sentence
        assert "'auto', 'required' or 'off'" in sentence


@pytest.mark.parametrize("written", ["https://files.example.org", "files.example.org:http", "one two", "host:"])
def test_an_index_host_is_a_name_with_an_optional_port(written: str) -> None:
    assert "plugins.index_hosts" in refusal(PARLOUR__PLUGINS__INDEX_HOSTS=written)
    listed = load(None, {}, {"PARLOUR__PLUGINS__INDEX_HOSTS": "one.example, two.example:8080"})
    assert listed.plugins.index_hosts == ["one.example", "two.example:8080"]


def test_object_storage_without_an_account_is_refused() -> None:
    message = refusal(PARLOUR__ARTIFACTS__STORE="s3")
    assert "'artifacts'" in message
    assert "endpoint, bucket, access_key and secret_key" in message


@pytest.mark.parametrize("endpoint", ["s3.example.org", "https://s3.example.org/bucket", "ftp://s3.example.org", ""])
def test_an_endpoint_of_object_storage_with_a_path_or_without_a_scheme_is_refused(endpoint: str) -> None:
    account = {"BUCKET": "b", "ACCESS_KEY": "a", "SECRET_KEY": "hunter2", "ENDPOINT": endpoint}
    message = refusal(**{f"PARLOUR__ARTIFACTS__S3__{name}": value for name, value in account.items()})
    assert "'artifacts.s3.endpoint'" in message
    assert "hunter2" not in message


def test_the_secret_of_object_storage_is_not_printed() -> None:
    account = {"BUCKET": "b", "ACCESS_KEY": "a", "SECRET_KEY": "hunter2", "ENDPOINT": "https://s3.example.org:9000"}
    environment = {f"PARLOUR__ARTIFACTS__S3__{name}": value for name, value in account.items()}
    settings = load(None, {}, {**environment, "PARLOUR__ARTIFACTS__STORE": "s3"})
    assert settings.artifacts.s3 is not None
    assert settings.artifacts.s3.secret_key.get_secret_value() == "hunter2"
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"URL": "http://there:5310", "TOKEN": "hunter2"}, "ws://host:port"),
        ({"URL": "ws://there:5310"}, "needs a token"),
        ({"URL": "ws://there:5310", "TOKEN": "hunter2", "TOKEN_FILE": "/run/token"}, "not both"),
        ({"LISTEN": "5310"}, "127.0.0.1:5310"),
        ({"LISTEN": "127.0.0.1:65536"}, "127.0.0.1:5310"),
        ({"SILENCE_SECONDS": "0"}, "silence_seconds"),
    ],
)
def test_invalid_settings_of_a_standalone_runtime_are_refused(settings: dict[str, str], expected: str) -> None:
    message = refusal(**{f"PARLOUR__RUNTIME__{name}": value for name, value in settings.items()})

    assert "'runtime" in message
    assert expected in message
    assert "hunter2" not in message


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:5310", "runtime.internal:65535"])
def test_a_valid_listen_address_of_a_runtime_is_accepted(listen: str) -> None:
    assert load(None, {"runtime.listen": listen}, {}).runtime.listen == listen


def test_a_secret_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://ann:secret@db/parlour\n")

    settings = load(None, {}, {"PARLOUR__DATABASE__URL_FILE": str(tmp_path / "url")})

    assert settings.database.url.get_secret_value() == "postgresql://ann:secret@db/parlour"


def test_a_missing_secret_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationInvalid, match=r"PARLOUR__DATABASE__URL_FILE: .*none' can't be read"):
        load(None, {}, {"PARLOUR__DATABASE__URL_FILE": str(tmp_path / "none")})


def test_a_setting_whose_own_name_ends_with_file_is_not_read_from_a_file() -> None:
    settings = load(None, {}, {"PARLOUR__RUNTIME__URL": "ws://h:1", "PARLOUR__RUNTIME__TOKEN_FILE": "/a/file"})

    assert settings.runtime.token_file == Path("/a/file")


def test_the_settings_file_of_the_data_directory_is_read_unless_another_is_given(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("http: {port: 5301}")
    (tmp_path / "other.yaml").write_text("http: {port: 5302}")

    assert load(None, {"data": tmp_path}, {}).http.port == 5301
    assert load(None, {}, {"PARLOUR__DATA": str(tmp_path)}).http.port == 5301
    assert load(tmp_path / "other.yaml", {"data": tmp_path}, {}).http.port == 5302


def test_the_generated_settings_file_lists_every_default_and_changes_nothing(tmp_path: Path) -> None:
    settings_file.write(tmp_path / "config.yaml")
    comments = (tmp_path / "config.yaml").read_text().split("\n\n", 1)[1]
    written = yaml.safe_load("\n".join(line.removeprefix("# ") for line in comments.splitlines()))

    assert load(None, {"data": tmp_path}, {}) == load(None, {"data": tmp_path / "none"}, {}).model_copy(
        update={"data": tmp_path}
    )
    for name, section in HostSettings():
        if isinstance(section, BaseModel):
            assert set(written[name]) == set(type(section).model_fields), name


def test_an_existing_settings_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("mine")

    settings_file.write(tmp_path / "config.yaml")

    assert (tmp_path / "config.yaml").read_text() == "mine"


def test_prefix_and_host_name_come_from_the_public_address_unless_they_are_set() -> None:
    plain = load(None, {}, {}).http
    public = load(None, {}, {"PARLOUR__HTTP__PUBLIC_URL": "https://chat.example.org:8443/team/chat/"}).http
    stripped = load(None, {}, {"PARLOUR__HTTP__PUBLIC_URL": "https://a.org/chat", "PARLOUR__HTTP__BASE_PATH": "/"}).http

    assert (plain.prefix, plain.accepted_names) == ("", [])
    assert public.public_url == "https://chat.example.org:8443/team/chat"
    assert (public.prefix, public.accepted_names) == ("/team/chat", ["chat.example.org"])
    assert (stripped.prefix, stripped.public_address) == ("", "https://a.org/chat")
    assert plain.public_address == ""


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("public_url", "chat.example.org"),
        ("public_url", "ftp://chat.example.org"),
        ("public_url", "https://user@chat.example.org"),
        ("public_url", "https://chat.example.org/api"),
        ("public_url", "https://chat.example.org:port"),
        ("base_path", "chat"),
        ("base_path", "/a/../b"),
        ("base_path", "/hooks/chat"),
        ("base_path", '/"><script>'),
        ("trusted_proxies", "proxy.example.org"),
        ("connections", "3"),
        ("connections_per_address", "0"),
        ("head_seconds", "0"),
        ("silent_seconds", "-1"),
    ],
)
def test_an_invalid_http_setting_is_refused_by_name(setting: str, value: str) -> None:
    message = refusal(**{f"PARLOUR__HTTP__{setting.upper()}": value})

    assert message.startswith(f"setting 'http.{setting}': ")
    assert "user@" not in message
