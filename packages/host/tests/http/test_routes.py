"""Tests the validation of routes: a route that could not work is refused when it is saved, with field and reason."""

from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from parlour.core.config.form_validation import SECRET_MASK
from parlour.core.config.routes import Route
from parlour.core.model.plugin_manager import PluginError
from parlour.core.webhooks.response_actions import ACTION_NAMES
from parlour.http import validation_errors
from parlour.http.bots.route_mapping import RouteMapper, to_response
from parlour.http.bots.route_schemas import RouteBody, RouteList
from parlour.http.bots.webhook_schemas import ActionType
from parlour.http.errors import Problem

ROUTES: TypeAdapter[list[RouteBody]] = TypeAdapter(RouteList)


class InstalledPlugins:
    """Provides the list of installed plugins, or the error of a runtime that is not connected."""

    def __init__(self, *plugins: str, disconnected: bool = False) -> None:
        self._plugins = [type("Facts", (), {"plugin_id": each}) for each in plugins]
        self._disconnected = disconnected

    def all(self) -> list[Any]:
        if self._disconnected:
            raise PluginError("runtime_unavailable", "the runtime is not connected")
        return self._plugins


class PlainBox:
    def seal(self, secret: str) -> str:
        return secret

    def open(self, sealed: str) -> str:
        return sealed


def field_errors_of(route: dict[str, Any]) -> list[dict[str, str]]:
    """Returns the errors of the fields."""
    bodies = [{"handler_type": "drop", **route}]
    try:
        saved(bodies)
    except ValidationError as invalid:
        return validation_errors.field_errors(invalid.errors(include_url=False), bodies)
    except Problem as problem:
        return list(problem.details["fields"])
    return []


def saved(bodies: Any, plugins: Any = None, before: list[Route] | None = None) -> list[Route]:
    form = RouteMapper(None, None, None, plugins or InstalledPlugins(), PlainBox())  # type: ignore[arg-type]
    return form.to_routes(ROUTES.validate_python(bodies), before or [])


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
def test_a_value_of_the_wrong_type_is_refused_with_the_accepted_type(
    route: dict[str, Any], field: str, message: str
) -> None:
    [error] = field_errors_of(route)
    assert error["field"] == field
    assert message in error["message"]


def test_valid_values_are_saved() -> None:
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
def test_an_unusable_webhook_is_refused(config: dict[str, Any], field: str, message: str) -> None:
    [error] = field_errors_of(hook(**config))
    assert error["field"] == f"0.handler_config.{field}"
    assert message in error["message"]
    assert "secret@" not in error["message"]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080/in", "https://[::1]:8443/", "https://bücher.example/", "http://my_hooks./x?a=b c"]
)
def test_a_usable_webhook_address_is_saved(url: str) -> None:
    [route] = saved([hook(url=url, headers={"X-Key": "k"}, secret="whsec_c2VjcmV0", response_actions=["reply"])])
    assert route.handler_config["url"] == url


def test_the_allowed_actions_are_those_that_a_response_can_request() -> None:
    assert get_args(ActionType) == tuple(ACTION_NAMES)


def to_plugins(*plugins: str, **fields: Any) -> dict[str, Any]:
    return {"handler_type": "plugin", "handler_config": {"plugins": list(plugins)}, **fields}


def test_a_plugin_that_is_not_installed_is_refused() -> None:
    with pytest.raises(Problem) as problem:
        saved([to_plugins("acme/here", "acme/gone")], InstalledPlugins("acme/here"))
    [error] = problem.value.details["fields"]
    assert error["field"] == "0.handler_config.plugins.1"
    assert error["message"] == "there is no plugin 'acme/gone'; GET /api/v1/plugins lists them"


def test_a_stored_route_keeps_a_plugin_that_is_no_longer_installed() -> None:
    [before] = [Route("*", "plugin", {"plugins": ["acme/gone"]}, route_id="r1")]
    [stored] = saved([to_plugins("acme/gone", "acme/here", route_id="r1")], InstalledPlugins("acme/here"), [before])
    assert stored.handler_config == {"plugins": ["acme/gone", "acme/here"]}


def test_plugins_are_not_checked_while_the_runtime_is_disconnected() -> None:
    [route] = saved([to_plugins("acme/there")], InstalledPlugins(disconnected=True))
    assert route.handler_config == {"plugins": ["acme/there"]}


def test_a_masked_header_keeps_its_value() -> None:
    [before] = saved([hook(headers={"X-Key": "k"})])
    [route] = saved(
        [{**hook(headers={"X-Key": SECRET_MASK}), "route_id": "r1"}], before=[Route(**_named(before, "r1"))]
    )
    assert route.handler_config["sealed_headers"] == before.handler_config["sealed_headers"]


def _named(route: Route, route_id: str) -> dict[str, Any]:
    return {**{name: getattr(route, name) for name in Route.__slots__}, "route_id": route_id}


def test_a_stored_route_of_an_unknown_handler_type_is_listed_without_its_configuration() -> None:
    shown = to_response(Route("*", "future", {"sealed_secret": "c2VhbGVk"}, route_id="r"))
    assert (shown["route_id"], shown["handler_type"], shown["handler_config"]) == ("r", "future", {})


def test_the_answer_of_a_get_is_accepted_as_the_body_of_a_put() -> None:
    stored = [Route("*", "drop", route_id="r")]
    page = {"items": [dict(to_response(route)) for route in stored], "next_cursor": None}
    assert saved(page, before=stored) == saved(page["items"], before=stored) == stored


@pytest.mark.parametrize("body", [{"next_cursor": None}, {"items": [], "next_cursor": "c"}, {"items": [], "more": 1}])
def test_a_body_that_is_no_whole_list_of_routes_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="valid list"):
        saved(body)


def test_both_forms_of_the_list_are_in_the_schema() -> None:
    forms = ROUTES.json_schema()["anyOf"]
    assert [form.get("type", form.get("$ref")) for form in forms] == ["array", "#/$defs/RoutePage"]
