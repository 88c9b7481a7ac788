"""What sections of the settings are made of: their base, types of values, and the options of an HTTP client."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretStr

from alerts.matching import parse_matchers
from bot.settings.secrets import Secret
from collectors.facts.clock import duration


def _duration(value: object) -> object:
    return duration(value) if isinstance(value, str) else value


def _matchers(value: str) -> str:
    parse_matchers(value)
    return value


Duration = Annotated[timedelta, BeforeValidator(_duration)]
Matchers = Annotated[str, BeforeValidator(_matchers)]


class Section(BaseModel):
    """A section: frozen, and unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Authorization(Section):
    """The fields of Prometheus' own `authorization`."""

    type: str = "Bearer"
    credentials: SecretStr | None = None
    credentials_file: Path | None = None


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
