"""The address of a database is validated, and it is never shown with its password."""

import pytest

from parlour.app.settings import ConfigurationInvalid
from parlour.app.settings_loader import load
from parlour.stores.address import redact_password


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://localhost/parlour",
        "postgresql://u:p@localhost:5432/parlour",
        "postgresql://u:p%40%2F%3F%23@localhost/parlour?sslmode=require",
        "postgresql://u:p@one:5432,two:5432/parlour?target_session_attrs=read-write",
        "postgresql://u:p@[::1]:5432/parlour",
        "postgresql:///parlour?host=/run/postgresql",
    ],
)
def test_an_address_is_accepted(url: str) -> None:
    settings = load(None, {}, {"PARLOUR__DATABASE__URL": url})
    assert settings.database.url.get_secret_value() == url


def test_an_empty_address_means_no_server() -> None:
    assert load(None, {}, {}).database.url.get_secret_value() == ""
    assert load(None, {}, {"PARLOUR__DATABASE__URL": ""}).database.url.get_secret_value() == ""


@pytest.mark.parametrize(
    "url",
    [
        "hunter2",
        "sqlite:///hunter2.db",
        "postgres://u:hunter2@localhost/parlour",
        "postgresql+asyncpg://u:hunter2@localhost/parlour",
        "postgresql://u:hunter2@localhost",
        "postgresql://u:hunter2@localhost/",
        "postgresql://u:hunter2@localhost:port/parlour",
        "postgresql://u:hunter2@rest@localhost/parlour",
        "postgresql://u:hunter2/rest@localhost/parlour",
        "postgresql://u:hunter2#rest@localhost/parlour",
        "postgresql://u:hunter2?rest@localhost/parlour",
        "postgresql://u:hunter2@[::1/parlour",
        "postgresql://u:hunter2@localhost/parlour?sslmode",
    ],
)
def test_an_invalid_address_is_refused_with_an_example_and_not_echoed(url: str) -> None:
    with pytest.raises(ConfigurationInvalid, match=r"'database\.url': must be empty") as refusal:
        load(None, {}, {"PARLOUR__DATABASE__URL": url})
    assert "postgresql://USER:PASSWORD@HOST:5432/DATABASE" in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_printed_settings_hide_the_address() -> None:
    settings = load(None, {}, {"PARLOUR__DATABASE__URL": "postgresql://u:hunter2@localhost/parlour"})
    assert "hunter2" not in f"{settings!r} {settings}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:secret@h:5432/d", "postgresql://u@h:5432/d"),
        ("postgresql://u@h/d?sslmode=require", "postgresql://u@h/d"),
        ("postgresql://u:s%40cret@h1:1,h2:2/d", "postgresql://u@h1:1,h2:2/d"),
        ("postgresql:///d?host=/run/postgresql&password=secret", "postgresql:///run/postgresql/d"),
        ("postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert redact_password(url) == shown
