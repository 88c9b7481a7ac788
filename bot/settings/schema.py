"""The settings schema: one YAML file plus the environment, typed and frozen; unknown keys are errors."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

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


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class KubernetesSettings(_Section):
    kubeconfig: str = ""
    context: str = ""
    stale_after: Duration = Field(
        default=duration("90s"), ge=timedelta(seconds=2), description="blind after this long without answers"
    )


class Authorization(_Section):
    """The fields of Prometheus' own `authorization`."""

    type: str = "Bearer"
    credentials: SecretStr | None = None
    credentials_file: Path | None = None


class BasicAuth(_Section):
    username: str
    password: SecretStr | None = None
    password_file: Path | None = None


class TlsConfig(_Section):
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    insecure_skip_verify: bool = False


class PrometheusSettings(_Section):
    """The fields of Prometheus' own http_config."""

    url: str
    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    tls_config: TlsConfig = TlsConfig()
    proxy_url: SecretStr | None = None
    http_headers: dict[str, SecretStr] = {}
    params: dict[str, str] = {}
    timeout: Duration = Field(default=duration("8s"), description="timeout of one query")
    stale_after: Duration = Field(default=duration("3m"), description="blind after this long without `up`")
    series_cap: int = Field(default=100_000, ge=1)
    byte_cap: int = Field(default=32 << 20, ge=1 << 16, description="of one response, after decompression")


class ElasticsearchSettings(_Section):
    url: str | tuple[str, ...]
    index: str = "filebeat-*"
    api_key: SecretStr | None = None
    api_key_file: Path | None = None
    basic_auth: BasicAuth | None = None
    ca_file: str = ""
    fields: dict[str, str | tuple[str, ...]] = {}
    timeout: Duration = duration("10s")
    lag: Duration = Field(default=duration("10s"), description="delay until a log line is searchable")
    stale_after: Duration = Field(default=duration("10m"), description="blind after this long without lines")


class ClusterSettings(_Section):
    name: str = Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$")
    kubernetes: KubernetesSettings | None = KubernetesSettings()
    prometheus: PrometheusSettings | None = None
    elasticsearch: ElasticsearchSettings | None = None
    links: dict[str, str] = {}


class StoreSettings(_Section):
    url: str = "sqlite+aiosqlite:///yardmaster.db"


class SlackSettings(_Section):
    bot_token: SecretStr | None = None
    bot_token_file: Path | None = None
    app_token: SecretStr | None = None
    app_token_file: Path | None = None
    signing_secret: SecretStr | None = None
    signing_secret_file: Path | None = None
    api_url: str = "https://slack.com/api/"
    channel: str = Field(
        pattern=r"^[CGD][A-Z0-9]+$", description="id of the channel for alerts that no route matches"
    )

    @model_validator(mode="after")
    def _has_tokens(self) -> "SlackSettings":
        if not (self.bot_token or self.bot_token_file):
            raise ValueError("bot_token (or bot_token_file) is missing: the token begins with xoxb-")
        if not (self.app_token or self.app_token_file or self.signing_secret or self.signing_secret_file):
            raise ValueError(
                "set app_token for Socket Mode, or signing_secret for the HTTP endpoint /slack/events"
            )
        return self


class TokenSettings(_Section):
    actor: str
    token: SecretStr | None = None
    token_file: Path | None = None
    teams: tuple[str, ...] = ()


class AuthSettings(_Section):
    tokens: tuple[TokenSettings, ...] = ()


class HttpSettings(_Section):
    listen: str = "127.0.0.1:9099"
    auth: AuthSettings = AuthSettings()

    @property
    def is_loopback(self) -> bool:
        host = self.listen.rpartition(":")[0].strip("[]")
        return host in ("127.0.0.1", "localhost", "::1")

    @model_validator(mode="after")
    def _is_guarded(self) -> "HttpSettings":
        if not self.is_loopback and not self.auth.tokens:
            raise ValueError(f"{self.listen} is not a loopback address: set http.auth.tokens")
        return self


class RouteSettings(_Section):
    match: Matchers = ""
    channels: tuple[str, ...] = ()
    continue_: bool = Field(default=False, alias="continue")
    routes: tuple["RouteSettings", ...] = ()


class TeamSettings(_Section):
    slack_groups: tuple[str, ...] = ()
    members: tuple[str, ...] = Field(default=(), description="chat ids, in addition to the groups")
    commands: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ("*",)
    namespaces: tuple[str, ...] = ("*",)


class AutomationSettings(_Section):
    commands: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ("*",)
    namespaces: tuple[str, ...] = ("*",)


class RuleOverride(_Section):
    for_: Annotated[str | None, Field(alias="for")] = None
    keep_firing_for: str | None = None
    interval: str | None = None
    severity: Literal["critical", "warning", "info"] | None = None
    enabled: bool = True
    above: float | None = None


class RulesSettings(_Section):
    packs: tuple[str, ...] | None = Field(default=None, description="all if not set")
    files: tuple[Path, ...] = ()
    objects: bool = Field(default=False, description="also read the cluster's PrometheusRule objects")
    overrides: dict[str, RuleOverride] = {}
    interval: Duration = duration("15s")


class CommandsSettings(_Section):
    """Defaults of commands, which differ between companies."""

    idle_after: Duration = duration("30m")
    reclaim_grace: Duration = duration("30m")
    cordon_for: Duration = duration("4h")
    pull_secret: str = ""
    training_images: tuple[str, ...] = ("*",)
    owners: dict[str, str] = Field(default={}, description="an owner's name in the cluster -> their chat id")


class Settings(BaseSettings):
    """All settings. Every section is optional."""

    model_config = SettingsConfigDict(
        env_prefix="YARDMASTER_",
        env_nested_delimiter="__",
        frozen=True,
        extra="forbid",
        populate_by_name=True,
    )

    clusters: tuple[ClusterSettings, ...] = ()
    store: StoreSettings = StoreSettings()
    slack: SlackSettings | None = None
    http: HttpSettings = HttpSettings()
    routes: tuple[RouteSettings, ...] = ()
    teams: dict[str, TeamSettings] = {}
    automation: dict[str, AutomationSettings] = {}
    rules: RulesSettings = RulesSettings()
    commands: CommandsSettings = CommandsSettings()
    timezone: str = "UTC"
    redact: tuple[str, ...] = ()
    runbooks: str = Field(default="", description="base URL of runbooks: the file name is appended")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The environment overrides the file."""
        return env_settings, init_settings

    @model_validator(mode="after")
    def _names_are_unique(self) -> "Settings":
        names = [cluster.name for cluster in self.clusters]
        if duplicates := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two clusters are named {', '.join(duplicates)}")
        return self


def secret(value: SecretStr | None, file: Path | None) -> Secret | None:
    """Return the secret of a value or its `…_file`; None if neither is set. The file is reread on changes."""
    if file is not None:
        return Secret(file=file)
    return Secret(value=value.get_secret_value()) if value is not None else None
