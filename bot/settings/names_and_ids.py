"""Names and ids in the settings: each is checked where a setting is declared, and its error says how to write it."""

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from alerts.loading.node_reader import did_you_mean
from bot.settings.json_shapes import shaped

PERSON_KINDS = ("slack", "token")  # by what a person may come
_CLUSTER = r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?"
_CHANNEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_SLACK_CHANNEL, _SLACK_GROUP = "[CGD][A-Z0-9]+", "S[A-Z0-9_]+"


def _id(what: str, pattern: str, example: str, where: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(
                f"`{value}` is not the id of {what}: write an id like {example}, which is {where}"
            )
        return value

    return check


def _named(pattern: str, text: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"`{value}` {text}")
        return value

    return check


def _person(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.:-]+", value):
        raise ValueError(
            f"`{value}` is not the id of a person: write an id like U0123456, from their profile"
        )
    return value


def _qualified_id(value: str) -> str:
    kind, colon, name = value.partition(":")
    if kind not in PERSON_KINDS or not colon or not name:
        near = did_you_mean(kind, PERSON_KINDS) if colon else ""
        raise ValueError(
            f"`{value}` is not an id with its kind{near or ''}: write slack:U0123456 for a person in Slack, "
            "or token:NAME for an actor of http.auth.tokens"
        )
    if kind == "slack" and not re.fullmatch(r"[UW][A-Z0-9]+", name):
        raise ValueError(
            f"`{name}` is not the id of a person in Slack: write slack:U0123456, from their profile"
        )
    return value


def _kubernetes_name(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise ValueError(
            "is not the name of a user or group in Kubernetes: write it as `kubectl auth whoami` does"
        )
    return value


def _pull_secret(value: str) -> str:
    if value and not re.fullmatch(r"[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*", value):
        raise ValueError(f"`{value}` is not namespace/name: write it like ops/registry")
    return value


def _label_value(value: str) -> str:
    if not value:
        raise ValueError(
            "an empty value means series without the label: name a value, or leave the label out"
        )
    return value


PersonId = Annotated[str, AfterValidator(_person)]
QualifiedId = Annotated[str, AfterValidator(_qualified_id)]
KubernetesName = Annotated[str, AfterValidator(_kubernetes_name)]
PullSecret = Annotated[str, AfterValidator(_pull_secret)]
LabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
LabelValue = Annotated[str, AfterValidator(_label_value)]
ChannelId = Annotated[
    str,
    AfterValidator(_id("a Slack channel", _SLACK_CHANNEL, "C0123456", "at the end of the channel's details")),
    shaped(f"^{_SLACK_CHANNEL}$"),
]
GroupId = Annotated[
    str,
    AfterValidator(_id("a Slack user group", _SLACK_GROUP, "S0123456", "in the user group's URL")),
    shaped(f"^{_SLACK_GROUP}$"),
]
ClusterName = Annotated[
    str,
    AfterValidator(
        _named(_CLUSTER, "is not a cluster's name: use lower-case letters, digits, `-` and `.`, at most 63")
    ),
    shaped(f"^{_CLUSTER}$"),
]
IndexName = Annotated[
    str,
    AfterValidator(
        _named(r"\S+", "is not the name of an index or a pattern: write `*` to search all of them")
    ),
    shaped(r"^\S+$"),
]
ChannelName = Annotated[
    str,
    AfterValidator(
        _named(_CHANNEL, "is not a channel's name: use lower-case letters, digits and `-`, at most 63")
    ),
    shaped(f"^{_CHANNEL}$"),
]
