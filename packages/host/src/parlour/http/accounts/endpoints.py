"""Endpoints for creating the first owner, logging in and out, and reading or changing the own account."""

import hmac
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from parlour.core.access.browser_sessions import SESSION_LIFETIME_MILLISECONDS, BrowserSession, BrowserSessions
from parlour.core.access.passwords import PasswordsBusy
from parlour.core.access.users import UserAccount, UserAccounts

from ..allowed_hosts import AllowedHosts
from ..api_router import ApiRouter
from ..auth import requires
from ..client_address import limit_key
from ..errors import Problem
from ..principals import COOKIE, Authenticator, Principal
from .login_errors import raise_problem_if_refused
from .responses import KeyPrincipalResponse, SessionUserResponse, SetupState
from .throttle import LoginThrottle

AnyPrincipal = Annotated[Principal, Depends(requires("viewer", "chat"))]


class Credentials(BaseModel):
    model_config = ConfigDict(extra="forbid")

    email: str = Field(max_length=254)
    password: str = Field(max_length=1024)


class FirstOwner(Credentials):
    name: str = Field(default="", max_length=200)
    token: str = Field(default="", max_length=200)
    """Set-up token that was printed at the start; not needed on the Host's own machine without a proxy."""


class OwnAccount(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=200)
    password: str | None = Field(default=None, max_length=1024)
    current_password: str = Field(default="", max_length=1024)


def router(
    users: UserAccounts,
    logins: BrowserSessions,
    names: AllowedHosts,
    throttle: LoginThrottle,
    setup_token: str,
    cookie_path: str = "/",
) -> APIRouter:
    routes = ApiRouter(tags=["accounts"])

    async def enter(user: UserAccount, request: Request, response: Response) -> SessionUserResponse:
        cookie, login = await logins.open(user, request.headers.get("user-agent", ""), _address(request))
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=SESSION_LIFETIME_MILLISECONDS // 1000,
            path=cookie_path,
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="lax",
        )
        return to_response(login, login.user, request)

    def to_response(login: BrowserSession, user: UserAccount, request: Request) -> SessionUserResponse:
        authenticator: Authenticator = request.app.state.authenticator
        return {
            "kind": "user",
            "user_id": user.user_id,
            "email": user.email,
            "name": user.name,
            "role": user.role,
            "reads_model_calls": authenticator.permits(login.user.role, "model_calls"),
            "csrf_token": login.csrf,
            "expires_at": login.expires_at,
        }

    async def authenticated(email: str, password: str, *limit_keys: str) -> UserAccount | None:
        throttle.count_attempt(*limit_keys)
        try:
            user = await users.authenticate(email, password)
        except PasswordsBusy:
            throttle.record_busy(*limit_keys)
            raise
        if user is not None:
            throttle.record_success(*limit_keys)
        return user

    @routes.get("/auth/setup")
    async def read_setup(request: Request) -> SetupState:
        """Tells whether the first owner is still to be made, and whether that takes the set-up token: it does unless
        the page was opened on the Host's own machine, without a proxy."""
        is_needed = not await users.has_any()
        return {"needed": is_needed, "token_required": is_needed and not names.is_local(request)}

    @routes.post("/auth/setup", status_code=201)
    async def set_up(body: FirstOwner, request: Request, response: Response) -> SessionUserResponse:
        """Makes the first owner and logs them in; there is one first owner only."""
        names.check(request)
        if not names.is_local(request):
            attempt_key = f"setup:{limit_key(_address(request))}"
            throttle.count_attempt(attempt_key)
            if not setup_token or not hmac.compare_digest(body.token.strip().encode(), setup_token.encode()):
                message = "token: it is not the set-up token that the Host printed when it started"
                raise Problem(403, "forbidden", message)
            throttle.record_success(attempt_key)
        user = await raise_problem_if_refused(
            users.create("", body.email, body.name, "owner", body.password, first=True)
        )
        return await enter(user, request, response)

    @routes.post("/auth/login")
    async def log_in(body: Credentials, request: Request, response: Response) -> SessionUserResponse:
        names.check(request)
        attempt_keys = (f"account:{body.email.strip().casefold()}", f"address:{limit_key(_address(request))}")
        user = await authenticated(body.email, body.password, *attempt_keys)
        if user is None:
            raise Problem(401, "unauthenticated", "this address and password belong to no account")
        return await enter(user, request, response)

    @routes.post("/auth/logout", status_code=204)
    async def log_out(principal: AnyPrincipal) -> Response:
        if principal.login is not None:
            await logins.close(principal.login)
        answer = Response(status_code=204)
        answer.delete_cookie(COOKIE, path=cookie_path)
        return answer

    @routes.get("/auth/me")
    async def read_me(principal: AnyPrincipal, request: Request) -> SessionUserResponse | KeyPrincipalResponse:
        """Who is asking; for a person also the token that guards changes."""
        if principal.login is not None:
            return to_response(principal.login, principal.login.user, request)
        return {"kind": "key", "key_id": principal.id, "name": principal.name, "scope": principal.scope}

    @routes.put("/auth/me")
    async def change_me(
        body: OwnAccount, principal: AnyPrincipal, request: Request, response: Response
    ) -> SessionUserResponse:
        """A new password takes the present one and ends all other sessions."""
        if principal.login is None:
            raise Problem(409, "conflict", "a key has no account; log in to change yours")
        user = principal.login.user
        attempt_key = f"account:{user.email}"
        if body.password is not None and await authenticated(user.email, body.current_password, attempt_key) is None:
            raise Problem(403, "forbidden", "current_password: it is not your password")
        user = await raise_problem_if_refused(
            users.change(principal.owner, user, name=body.name, password=body.password)
        )
        if body.password is not None:
            return await enter(user, request, response)
        return to_response(principal.login, user, request)

    return routes


def _address(request: Request) -> str:
    return request.client.host if request.client else ""
