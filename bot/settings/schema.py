"""The settings schema: one YAML file plus the environment, typed and frozen; unknown keys are errors."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from bot.settings.acceptance_settings import AcceptanceSettings
from bot.settings.channels import ChannelSettings, SlackSettings
from bot.settings.gates import BreakerSettings, BudgetSettings, PoolSettings, WindowSettings
from bot.settings.identity_types import PersonId
from bot.settings.jobs_on_nodes import NodeJobsSettings, RebootSettings, RepairName, RepairSettings
from bot.settings.people_settings import AutomationSettings, PersonSettings, TeamSettings
from bot.settings.routes import InhibitRuleSettings, RouteSettings, TimePeriodSettings
from bot.settings.section import Authorization, BasicAuth, Duration, Section
from bot.settings.source_settings import ClusterSettings
from bot.settings.value_types import (
    AddressWithoutLogin,
    AutomationName,
    ChannelName,
    ListenAddress,
    OptionalAddress,
    PackName,
    PullSecret,
    RedactPattern,
    StoreUrl,
    TimeOfDay,
    TimeZone,
)
from collectors.facts.clock import duration
from collectors.trainings.catalogue import needs_by_option


class StoreSettings(Section):
    url: StoreUrl = "sqlite+aiosqlite:///yardmaster.db"


class TokenSettings(Section):
    actor: str
    token: SecretStr | None = None
    token_file: Path | None = None
    teams: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _has_a_token(self) -> "TokenSettings":
        if self.token is None and self.token_file is None:
            raise ValueError("set token or token_file")
        return self


class AuthSettings(Section):
    tokens: tuple[TokenSettings, ...] = ()


class HttpSettings(Section):
    listen: ListenAddress = "127.0.0.1:9099"
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


class RuleOverride(Section):
    for_: Annotated[str | None, Field(alias="for")] = None
    keep_firing_for: str | None = None
    interval: str | None = None
    severity: Literal["critical", "warning", "info"] | None = None
    enabled: bool = True
    above: float | None = None
    remediation: bool = True


class RulesSettings(Section):
    packs: tuple[PackName, ...] | None = Field(default=None, description="all if not set")
    files: tuple[Path, ...] = ()
    objects: bool = Field(default=False, description="also read the cluster's PrometheusRule objects")
    overrides: dict[str, RuleOverride] = Field(default={})
    interval: Duration = duration("15s")


class FallbackSettings(Section):
    """Where incidents are shown whose channel cannot show them."""

    channels: tuple[str, ...] = ()
    after: Duration = Field(
        default=duration("5m"), description="without an answer; a channel that refuses is not waited for"
    )


class IncidentsSettings(Section):
    reopens_within: Duration = duration("10m")
    storm_from: int = Field(
        default=8, ge=2, description="nodes of one place, component or training with one card for all"
    )
    remind_after: Duration = Field(default=duration("30m"), description="0 for never")


class AlertmanagerSettings(Section):
    """An Alertmanager that stays beside us, and with which silences are shared."""

    url: AddressWithoutLogin
    cluster: str = Field(default="", description="whose silences they are; the first cluster if not set")
    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    silences: Literal["read", "write"] = Field(
        default="read", description="`write`: those that are added here are added there, too"
    )


class ReceiveSettings(Section):
    """Alerts that other programs send."""

    drop_labels: tuple[str, ...] = Field(
        default=("prometheus_replica", "replica"),
        description="in which replicas of a sender differ: the alerts of all of them are one",
    )
    external_labels: tuple[str, ...] = Field(
        default=("cluster", "prometheus"),
        description="that senders add, and our rules' alerts lack: without them, equal alerts are one",
    )
    default_cluster: str = Field(
        default="", description="of alerts without a known `cluster` label; the first cluster if not set"
    )
    alertmanager: AlertmanagerSettings | None = None
    resolve_timeout: Duration = duration("5m")
    repeated_within: Duration = Field(
        default=duration("5h"), description="by an Alertmanager's webhook: longer than its repeat_interval"
    )


class CommandsSettings(Section):
    """Defaults of commands, which differ between companies."""

    idle_after: Duration = duration("30m")
    reclaim_grace: Duration = duration("30m")
    consent_grace: Duration = duration("30m")
    silence_agrees: bool = False
    cordon_for: Duration = duration("4h")
    daily_reminder: TimeOfDay = "09:00"
    pull_secret: PullSecret = ""
    training_images: tuple[str, ...] = ("*",)
    stacks_image: str = ""
    training_queues: dict[str, tuple[str, ...]] = Field(
        default={}, description="a pattern of queues -> the teams that may use them"
    )
    training_cards: Literal["launched", "all"] = "launched"
    training_kinds: tuple[str, ...] = Field(
        default=(), description="as `training launch --kind` has them; all, if none is given"
    )
    owners: dict[str, PersonId] = Field(
        default={}, description="an owner's name in the cluster -> their chat id"
    )

    @model_validator(mode="after")
    def _known_kinds(self) -> Self:
        known = tuple(needs_by_option())
        if unknown := [one for one in self.training_kinds if one not in known]:
            raise ValueError(
                f"training_kinds: {', '.join(unknown)} is no kind of training; known: {', '.join(known)}"
            )
        return self


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
    channels: dict[ChannelName, ChannelSettings] = Field(default={})
    http: HttpSettings = HttpSettings()
    routes: tuple[RouteSettings, ...] = ()
    fallback: FallbackSettings = FallbackSettings()
    teams: dict[str, TeamSettings] = Field(default={})
    people: dict[str, PersonSettings] = Field(default={})
    automation: dict[AutomationName, AutomationSettings] = Field(default={})
    pools: dict[str, PoolSettings] = Field(default={})
    budgets: tuple[BudgetSettings, ...] = ()
    breaker: BreakerSettings = BreakerSettings()
    windows: dict[str, WindowSettings] = Field(default={})
    rules: RulesSettings = RulesSettings()
    incidents: IncidentsSettings = IncidentsSettings()
    receive: ReceiveSettings = ReceiveSettings()
    time_intervals: dict[str, tuple[TimePeriodSettings, ...]] = Field(default={})
    inhibit_rules: tuple[InhibitRuleSettings, ...] = ()
    commands: CommandsSettings = CommandsSettings()
    node_jobs: NodeJobsSettings = NodeJobsSettings()
    reboot: RebootSettings = RebootSettings()
    repairs: dict[RepairName, RepairSettings] = Field(default={})
    acceptance: AcceptanceSettings = AcceptanceSettings()
    language: Literal["en", "zh"] = Field(default="en", description="of cards, answers and help")
    timezone: TimeZone = "UTC"
    redact: tuple[RedactPattern, ...] = ()
    runbooks: OptionalAddress = Field(
        default="", description="base URL of runbooks: the file name is appended"
    )

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
