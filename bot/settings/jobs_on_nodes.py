"""Settings of Jobs that run on nodes: where, with which images, and the site's own repairs."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator

from bot.settings.section import Duration, Section, TlsConfig
from bot.settings.value_types import LabelValue, NodeLabel
from collectors.facts.clock import duration
from commands.core.node_script import NAMESPACE
from commands.node.repair.repair_list import own_repairs

_DNS = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,400}|")
_LONGEST = timedelta(hours=2)


def _dns_name(value: str) -> str:
    if not _DNS.fullmatch(value):
        raise ValueError(f"`{value[:80]}` is not a name in Kubernetes: small letters, digits and hyphens")
    return value


def _image(value: str) -> str:
    if not _IMAGE.fullmatch(value):
        raise ValueError(f"`{value[:80]}` is not an image: write it like registry.example/tools:1.2")
    return value


def _repair_name(value: str) -> str:
    if value in own_repairs():
        raise ValueError(f"`{value}` is a repair that Yardmaster has: give yours another name")
    return _dns_name(value)


def _script(value: str) -> str:
    if not value.strip():
        raise ValueError("is empty")
    if len(value) > 16_384:
        raise ValueError("is longer than 16 KiB: put a program into the image, and call it")
    return value


def _within(value: timedelta) -> timedelta:
    if not timedelta() < value <= _LONGEST:
        raise ValueError("must be more than 0 s and at most 2h")
    return value


DnsName = Annotated[str, AfterValidator(_dns_name)]
ImageName = Annotated[str, AfterValidator(_image)]
RepairName = Annotated[str, AfterValidator(_repair_name)]
Script = Annotated[str, AfterValidator(_script)]
Within = Annotated[Duration, AfterValidator(_within)]


class NodeJobsSettings(Section):
    namespace: DnsName = NAMESPACE
    image: ImageName = ""
    images: dict[str, ImageName] = Field(default={})
    pull_secrets: tuple[DnsName, ...] = ()
    start_within: Within = duration("3m")


class RepairSettings(Section):
    summary: str
    script: Script
    image: ImageName = ""
    on_host: bool = True
    privileged: bool = False
    within: Within = duration("5m")
    needs: tuple[Literal["cordoned", "idle", "paused"], ...] = ()
    second_person: bool = True


class RebootWebhookSettings(Section):
    """The webhook that a reboot is asked of. It is signed, so a secret is needed."""

    url: SecretStr | None = None
    url_file: Path | None = None
    signing_secret: SecretStr | None = None
    signing_secret_file: Path | None = None
    tls_config: TlsConfig = TlsConfig()
    timeout: Duration = Field(default=duration("7s"), gt=timedelta(), le=duration("30s"))

    @field_validator("url")
    @classmethod
    def _is_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not value.get_secret_value().startswith(("http://", "https://")):
            raise ValueError("is not an address: write it like https://reboots.example/hook")
        return value

    @model_validator(mode="after")
    def _has_one_of_each(self) -> "RebootWebhookSettings":
        if (self.url is None) == (self.url_file is None):
            raise ValueError("needs url or url_file, one of them")
        if (self.signing_secret is None) == (self.signing_secret_file is None):
            raise ValueError("needs signing_secret or signing_secret_file, one of them: every call is signed")
        return self


class RebootSettings(Section):
    annotation: dict[NodeLabel, LabelValue] = Field(default={})
    label: dict[NodeLabel, LabelValue] = Field(default={})
    webhook: RebootWebhookSettings | None = None
    within: Within = duration("30m")
    storage_team: str = ""
    storage_labels: dict[NodeLabel, LabelValue] = Field(default={})

    @model_validator(mode="after")
    def _is_one(self) -> "RebootSettings":
        if sum(map(bool, (self.annotation, self.label, self.webhook))) > 1:
            raise ValueError("asks in several ways: set one of annotation, label and webhook")
        return self
