"""Endpoints to manage accounts. Admins manage operators and viewers; only owners manage admins and owners."""

from operator import attrgetter
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from parlour.core.access.users import Role, UserAccount, UserAccounts
from parlour.core.model.ids import UserId
from parlour.core.pagination import Cursors
from parlour.core.runs.model_call_log import ModelCallLog

from ..accounts import responses
from ..accounts.login_errors import raise_problem_if_refused
from ..api_router import ApiRouter
from ..auth import Admin
from ..errors import Problem, not_found
from ..pagination import Cursor, Limit, paginate
from ..principals import Principal
from ..responses import PageResponse

UserPath = Annotated[UserId, Path(max_length=64)]


class NewUser(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"email": "ada@example.org", "name": "Ada", "role": "operator", "password": "correct horse battery"}
            ]
        },
    )

    email: str = Field(max_length=254)
    name: str = Field(default="", max_length=200)
    role: Role = "viewer"
    password: str = Field(max_length=1024)


class ChangedUser(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=200)
    role: Role | None = None
    enabled: bool | None = None
    password: str | None = Field(default=None, max_length=1024)


def router(users: UserAccounts, model_calls: ModelCallLog, cursors: Cursors) -> APIRouter:
    routes = ApiRouter(tags=["users"])

    async def existing(user_id: UserId) -> UserAccount:
        user = await users.get(user_id)
        if user is None:
            raise not_found(f"user '{user_id}'", "GET /api/v1/users lists them")
        return user

    def check(principal: Principal, *roles: Role | None) -> None:
        if {"owner", "admin"} & set(roles) and not principal.may("owner"):
            raise Problem(403, "forbidden", "only an owner manages admins and owners")

    @routes.post("/users", status_code=201)
    async def create_user(body: NewUser, principal: Admin) -> responses.UserResponse:
        check(principal, body.role)
        new_user = users.create(principal.owner, body.email, body.name, body.role, body.password)
        return _to_response(await raise_problem_if_refused(new_user))

    @routes.get("/users")
    async def list_users(
        principal: Admin, limit: Limit = 50, cursor: Cursor = None
    ) -> PageResponse[responses.UserResponse]:
        page, next_cursor = paginate(cursors, "users", await users.all(), attrgetter("user_id"), limit, cursor)
        return {"items": [_to_response(user) for user in page], "next_cursor": next_cursor}

    @routes.get("/users/{user_id}")
    async def read_user(user_id: UserPath, principal: Admin) -> responses.UserResponse:
        return _to_response(await existing(user_id))

    @routes.put("/users/{user_id}")
    async def change_user(user_id: UserPath, body: ChangedUser, principal: Admin) -> responses.UserResponse:
        """What is not named stays as it is."""
        user = await existing(user_id)
        check(principal, user.role, body.role)
        change = users.change(principal.owner, user, body.name, body.role, body.enabled, body.password)
        return _to_response(await raise_problem_if_refused(change))

    @routes.delete("/users/{user_id}", status_code=204)
    async def delete_user(user_id: UserPath, principal: Admin) -> Response:
        user = await existing(user_id)
        check(principal, user.role)
        await model_calls.forget_person("user", user_id)
        await raise_problem_if_refused(users.remove(principal.owner, user))
        return Response(status_code=204)

    return routes


def _to_response(user: UserAccount) -> responses.UserResponse:
    return {
        "user_id": user.user_id,
        "email": user.email,
        "name": user.name,
        "role": user.role,
        "enabled": user.enabled,
        "created_at": user.created_at,
    }
