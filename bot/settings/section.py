"""The base of the settings' sections, the types of their values, and the options of an HTTP client."""

import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    SecretStr,
    WithJsonSchema,
    model_validator,
)

from alerts.matching import parse_matchers
from bot.settings.secrets import Secret
from collectors.facts.clock import DURATION_SHAPE, duration


def _duration(value: object) -> object:
    return duration(value) if isinstance(value, str) else value


def _matchers(value: str) -> str:
    parse_matchers(value)
    return value


_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_NOT_OURS = frozenset(
    {"connection", "content-encoding", "content-length", "content-type", "host", "transfer-encoding"}
)  # what says where a request's body begins and ends, and whom it is for


def _header_value(value: SecretStr | None) -> SecretStr | None:
    if value is not None and not value.get_secret_value().isprintable():
        raise ValueError("must be one line of plain text")
    return value


def _headers(value: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
    for name, one in value.items():
        if not _HEADER.fullmatch(name):
            raise ValueError(f"`{name}` is not a header's name")
        if name.lower() in _NOT_OURS:
            raise ValueError(f"the header {name} cannot be set")
        try:
            _header_value(one)
        except ValueError as error:
            raise ValueError(f"{name} {error}") from None
    return value


HeaderValue = Annotated[SecretStr | None, AfterValidator(_header_value)]
HttpHeaders = Annotated[dict[str, SecretStr], AfterValidator(_headers)]
Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    WithJsonSchema({"type": "string", "pattern": DURATION_SHAPE}),
]
Matchers = Annotated[str, AfterValidator(_matchers)]


class Section(BaseModel):
    """A section: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Authorization(Section):
    """The fields of Prometheus' own `authorization`."""

    type: str = "Bearer"
    credentials: HeaderValue = None
    credentials_file: Path | None = None

    @model_validator(mode="after")
    def _has_credentials(self) -> "Authorization":
        if (self.credentials is None) == (self.credentials_file is None):
            raise ValueError("set credentials or credentials_file")
        return self


class BasicAuth(Section):
    username: str
    password: SecretStr | None = None
    password_file: Path | None = None


class TlsConfig(Section):
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    insecure_skip_verify: bool = False


def secret(value: SecretStr | None, file: Path | None) -> Secret | None:
    """Return the secret of a value or its `…_file`; None if neither is set. The file is reread on changes."""
    if file is not None:
        return Secret(file=file)
    return Secret(value=value.get_secret_value()) if value is not None else None


def login_header(
    authorization: Authorization | None, basic_auth: BasicAuth | None
) -> Callable[[], Mapping[str, str]]:
    """Return what gives the header to log in with, as of now. It raises SecretError."""
    if authorization is not None:
        kind = authorization.type
        credentials = secret(authorization.credentials, authorization.credentials_file)
        return lambda: {"Authorization": f"{kind} {credentials()}"} if credentials else {}
    if basic_auth is not None:
        username = basic_auth.username
        password = secret(basic_auth.password, basic_auth.password_file)
        return lambda: _basic(username, password() if password else "")
    return dict


def _basic(username: str, password: str) -> Mapping[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{username}:{password}".encode()).decode()}
