"""Settings of who may do what: teams, people, automation."""

from pydantic import Field, model_validator

from bot.settings.identity_types import GroupId, KubernetesName, PersonId, QualifiedId
from bot.settings.section import Section
from bot.settings.value_types import CommandPattern, TimeZone


class TeamSettings(Section):
    slack_groups: tuple[GroupId, ...] = ()
    members: tuple[PersonId, ...] = Field(default=(), description="chat ids, in addition to the groups")
    channel: str = Field(default="", description="id of the channel where the team is asked")
    commands: tuple[CommandPattern, ...] = ()
    may_confirm_alone: tuple[CommandPattern, ...] = ()
    clusters: tuple[str, ...] = ("*",)
    namespaces: tuple[str, ...] = ("*",)


class KubernetesIdentity(Section):
    """Who a person is in Kubernetes."""

    user: KubernetesName | None = None
    groups: tuple[KubernetesName, ...] = ()

    @model_validator(mode="after")
    def _names_somebody(self) -> "KubernetesIdentity":
        if self.user is None and not self.groups:
            raise ValueError("set user or groups")
        return self


class PersonSettings(Section):
    ids: tuple[QualifiedId, ...]
    timezone: TimeZone | None = None
    kubernetes: KubernetesIdentity | None = None


class AutomationSettings(Section):
    commands: tuple[CommandPattern, ...] = ()
    clusters: tuple[str, ...] = ("*",)
    namespaces: tuple[str, ...] = ("*",)
    rules: tuple[str, ...] = Field(default=(), description="only of `remediation`")
    pools: tuple[str, ...] = Field(default=("*",), description="only of `remediation`")
