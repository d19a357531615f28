"""Routes as they are written: what could not work with an event is refused when it is saved, by field and in words."""

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.config.routes import Route
from parlour.core.model.plugin_manager import PluginError
from parlour.core.webhooks.response_actions import ACTION_NAMES
from parlour.http import validation_errors
from parlour.http.bots.route_mapping import RouteMapper
from parlour.http.bots.route_schemas import RouteBody, RouteList
from parlour.http.bots.webhook_schemas import ActionType
from parlour.http.errors import Problem

ROUTES: TypeAdapter[list[RouteBody]] = TypeAdapter(RouteList)


class Installed:
    """As much of a plugin keeper as routes ask: the plugins that there are, or that nobody can tell."""

    def __init__(self, *plugins: str, away: bool = False) -> None:
        self._plugins = [type("Facts", (), {"plugin_id": each}) for each in plugins]
        self._away = away

    def all(self) -> list[Any]:
        if self._away:
            raise PluginError("runtime_unavailable", "the runtime is not connected")
        return self._plugins


class Box:
    def seal(self, secret: str) -> str:
        return secret

    def open(self, sealed: str) -> str:
        return sealed


def refused(route: dict[str, Any]) -> list[dict[str, str]]:
    """What is said of each field."""
    written = [{"handler_type": "drop", **route}]
    try:
        saved(written)
    except ValidationError as error:
        return validation_errors.field_errors(error.errors(include_url=False), written)
    except Problem as problem:
        return list(problem.details["fields"])
    return []


def saved(written: Any, plugins: Any = None, before: list[Route] | None = None) -> list[Route]:
    form = RouteMapper(None, plugins or Installed(), Box())  # type: ignore[arg-type]
    return form.to_routes(ROUTES.validate_python(written), before or [])


@pytest.mark.parametrize(
    ("route", "field", "message"),
    [
        ({"enabled": "yes"}, "0.enabled", "Input should be a valid boolean, not a text"),
        ({"priority": "1"}, "0.priority", "Input should be a valid integer, not a text"),
        ({"filters": {"mentions_bot": "yes"}}, "0.filters.mentions_bot", "a valid boolean, not a text"),
        ({"filters": {"probability": True}}, "0.filters.probability", "a valid number, not true or false"),
        ({"filters": {"groups": [7]}}, "0.filters.groups.0", "a valid string, not a number"),
        *(
            ({"filters": {"data": {path: 1}}}, "0.filters.data", "a path has names with a dot between them")
            for path in ("", ".", "a..b", "a.", f"message_chain.{'9' * 5000}")
        ),
        ({"event_type": "message.**"}, "0.event_type", "write one as message.received, message.* or *"),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_is_accepted(
    route: dict[str, Any], field: str, message: str
) -> None:
    [told] = refused(route)
    assert told["field"] == field
    assert message in told["message"]


def test_values_of_their_own_types_are_taken() -> None:
    filters = {"mentions_bot": True, "probability": 1, "time_window": {"from": "08:00", "to": "09:00", "days": ["mon"]}}
    [route] = saved([{"handler_type": "drop", "enabled": False, "priority": -1, "filters": filters}])
    assert (route.enabled, route.priority, route.filters["probability"]) == (False, -1, 1)


def hook(**config: Any) -> dict[str, Any]:
    return {"handler_type": "webhook", "handler_config": {"url": "https://hooks.example/in", **config}}


@pytest.mark.parametrize(
    ("config", "field", "message"),
    [
        *(
            ({"headers": {name: "x"}}, "headers", f"'{name}' is for the Host to say; leave it out")
            for name in ("Transfer-Encoding", "content-encoding", "Content-Length", "host", "Connection", "webhook-id")
        ),
        ({"headers": {"X Key": "x"}}, "headers", "'X Key' is no name of a header"),
        ({"headers": {"X-Key": "a\nb"}}, "headers", "the value of 'X-Key' has characters"),
        *(
            ({"secret": secret}, "secret", "after whsec_ comes base64")
            for secret in ("whsec_", "whsec_!", "whsec_c2VjcmV", "whsec_my own words")
        ),
        *(
            ({"url": url}, "url", "write it as https://host/path")
            for url in (
                *("http://host:99999/", "http://host:0/", "http://a b/", "http://[::1/", "http://a..b/", "http:///in"),
                *("ftp://host/", "https://host/a\nb", "host/path", f"https://{'a' * 64}.example/"),
            )
        ),
        ({"url": "https://me:secret@host/"}, "url", "without a user or password"),
        (
            {"response_actions": ["reply", "kick"]},
            "response_actions",
            "there is no action 'kick'; there are send_message",
        ),
        ({"response_actions": [7]}, "response_actions", "there is no action that is a number; there are send_message"),
        ({"response_actions": "reply"}, "response_actions", "write true, false or a list of send_message, reply"),
        ({"retry_count": "3"}, "retry_count", "a valid integer, not a text"),
    ],
)
def test_a_webhook_that_could_never_be_called_is_refused(config: dict[str, Any], field: str, message: str) -> None:
    [told] = refused(hook(**config))
    assert told["field"] == f"0.handler_config.{field}"
    assert message in told["message"]
    assert "secret@" not in told["message"]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/in", "https://[::1]:8443/", "https://bücher.example/", "http://my_hooks./x?a=b c"]
)
def test_an_address_that_can_be_reached_is_taken(url: str) -> None:
    [route] = saved([hook(url=url, headers={"X-Key": "k"}, secret="whsec_c2VjcmV0", response_actions=["reply"])])
    assert route.handler_config["url"] == url


def test_actions_that_can_be_allowed_are_those_that_an_answer_can_ask_for() -> None:
    assert get_args(ActionType) == tuple(ACTION_NAMES)


def to_plugins(*plugins: str, **fields: Any) -> dict[str, Any]:
    return {"handler_type": "plugin", "handler_config": {"plugins": list(plugins)}, **fields}


def test_a_plugin_that_is_not_installed_is_said_so() -> None:
    with pytest.raises(Problem) as problem:
        saved([to_plugins("acme/here", "acme/gone")], Installed("acme/here"))
    [told] = problem.value.details["fields"]
    assert told["field"] == "0.handler_config.plugins.1"
    assert told["message"] == "there is no plugin 'acme/gone'; GET /api/v1/plugins lists them"


def test_a_plugin_that_a_route_had_may_be_gone_since() -> None:
    [before] = [Route("*", "plugin", {"plugins": ["acme/gone"]}, route_id="r1")]
    [kept] = saved([to_plugins("acme/gone", "acme/here", route_id="r1")], Installed("acme/here"), [before])
    assert kept.handler_config == {"plugins": ["acme/gone", "acme/here"]}


def test_plugins_are_taken_as_written_while_nobody_can_tell() -> None:
    [route] = saved([to_plugins("acme/there")], Installed(away=True))
    assert route.handler_config == {"plugins": ["acme/there"]}


def test_a_header_that_is_masked_keeps_its_value() -> None:
    [before] = saved([hook(headers={"X-Key": "k"})])
    [route] = saved(
        [{**hook(headers={"X-Key": SECRET_MASK}), "route_id": "r1"}], before=[Route(**_named(before, "r1"))]
    )
    assert route.handler_config["sealed_headers"] == before.handler_config["sealed_headers"]


def _named(route: Route, route_id: str) -> dict[str, Any]:
    return {**{name: getattr(route, name) for name in Route.__slots__}, "route_id": route_id}
