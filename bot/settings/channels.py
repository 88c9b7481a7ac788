"""The settings of channels, one model for each kind, and which channels they make."""

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

from pydantic import Field, SecretStr, field_validator, model_validator
from yarl import URL

from alerts.cards.channel_id import kind_and_name
from bot.settings.identity_types import AppToken, BotToken, ChannelId
from bot.settings.section import Authorization, BasicAuth, Duration, HttpHeaders, Section, TlsConfig
from bot.settings.value_types import Address
from collectors.facts.clock import duration

CONSOLE_CHANNEL = "console:log"
_SLACK_ID = r"^[CGD][A-Z0-9]+$"


class SlackSettings(Section):
    bot_token: BotToken | None = None
    bot_token_file: Path | None = None
    app_token: AppToken | None = None
    app_token_file: Path | None = None
    signing_secret: SecretStr | None = None
    signing_secret_file: Path | None = None
    api_url: Address = "https://slack.com/api/"
    channel: ChannelId = Field(description="id of the channel for alerts that no route matches")

    @model_validator(mode="after")
    def _has_tokens(self) -> "SlackSettings":
        if not (self.bot_token or self.bot_token_file):
            raise ValueError("bot_token (or bot_token_file) is missing: the token begins with xoxb-")
        if not (self.app_token or self.app_token_file or self.signing_secret or self.signing_secret_file):
            raise ValueError(
                "set app_token for Socket Mode, or signing_secret for the HTTP endpoint /slack/events"
            )
        return self


class _SecretAddress(Section):
    """An address that may hold a secret."""

    url: SecretStr | None = None
    url_file: Path | None = None

    @model_validator(mode="after")
    def _has_an_address(self) -> "_SecretAddress":
        if (self.url is None) == (self.url_file is None):
            raise ValueError("set url or url_file")
        return self


class WebhookSettings(_SecretAddress):
    """The fields of Alertmanager's own `webhook_config` and its `http_config`."""

    authorization: Authorization | None = None
    basic_auth: BasicAuth | None = None
    tls_config: TlsConfig = TlsConfig()
    http_headers: HttpHeaders = Field(default={})
    signing_secret: SecretStr | None = None
    signing_secret_file: Path | None = None
    timeout: Duration = Field(
        default=duration("7s"), gt=timedelta(), le=duration("10s"), description="of one request"
    )
    heartbeat: Duration | None = Field(default=None, ge=duration("10s"), le=duration("1d"))

    @field_validator("url")
    @classmethod
    def _is_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and (error := address_error(value.get_secret_value())):
            raise ValueError(error)
        return value

    @model_validator(mode="after")
    def _is_clear(self) -> "WebhookSettings":
        if self.authorization is not None and self.basic_auth is not None:
            raise ValueError("set authorization or basic_auth")
        if self.signing_secret is not None and not self.signing_secret.get_secret_value():
            raise ValueError("signing_secret is empty: leave it out, and bodies are not signed")
        return self


def address_error(address: str) -> str:
    """Return what is wrong with the address of a webhook, without the address; empty if nothing is."""
    try:
        url = URL(address)
    except ValueError:
        return "is not a URL"
    if url.scheme not in ("http", "https") or not url.host:
        return "must begin with http:// or https://"
    return "has a user name: use basic_auth" if url.user is not None or url.password is not None else ""


class PagerDutySettings(Section):
    """The integration of one service of PagerDuty, by Alertmanager's names in its `pagerduty_config`."""

    routing_key: SecretStr | None = None
    routing_key_file: Path | None = None
    url: Address = "https://events.pagerduty.com/v2/enqueue"

    @model_validator(mode="after")
    def _has_a_key(self) -> "PagerDutySettings":
        if (self.routing_key is None) == (self.routing_key_file is None):
            raise ValueError("set routing_key or routing_key_file: it is the integration's key")
        return self


class AppriseSettings(_SecretAddress):
    """Addresses of apprise, which have the credentials in them."""


class ChannelSettings(Section):
    """One channel beside Slack's, of the kind that is set: each field is a kind."""

    webhook: WebhookSettings | None = None
    pagerduty: PagerDutySettings | None = None
    apprise: AppriseSettings | None = None

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in type(self).model_fields if getattr(self, kind) is not None)

    @model_validator(mode="after")
    def _has_one_kind(self) -> "ChannelSettings":
        if len(self.kinds) != 1:
            raise ValueError(f"set exactly one of {', '.join(type(self).model_fields)}")
        return self


def channel_error(
    channel: str, *, slack: SlackSettings | None, channels: Mapping[str, ChannelSettings]
) -> str:
    """Return why these settings have no such channel; empty if they have it."""
    kind, name = kind_and_name(channel)
    if channel == CONSOLE_CHANNEL or channel in set(channel_ids(channels)):
        return ""
    if kind == "slack":
        if not re.fullmatch(_SLACK_ID, name):
            return f"`{channel}` is not `slack:` and a channel's id, such as slack:C0123456"
        return "" if slack is not None else f"`{channel}` needs the section `slack`"
    known = ", ".join(f"`{one}`" for one in (*channel_ids(channels), CONSOLE_CHANNEL))
    if not kind and re.fullmatch(_SLACK_ID, name):
        return f"`{channel}` is not the id of a channel: write `slack:{channel}`"
    if kind in ChannelSettings.model_fields:
        return f"`{channel}` needs `channels.{name}.{kind}`; there is {known}"
    return f"`{channel}` is not the id of a channel: use `slack:` and Slack's id, or {known}"


def channel_ids(channels: Mapping[str, ChannelSettings]) -> Iterator[str]:
    for name, one in channels.items():
        yield from (f"{kind}:{name}" for kind in one.kinds)
