"""Types of values that say who somebody is: ids of people, groups and channels, and tokens."""

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, SecretStr

from alerts.loading.node_reader import did_you_mean
from bot.settings.value_types import shaped

PERSON_KINDS = ("slack", "token")  # by what a person may come


def _id(what: str, pattern: str, example: str, where: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(
                f"`{value}` is not the id of {what}: write an id like {example}, which is {where}"
            )
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
    if not value or value != value.strip() or not value.isprintable():
        raise ValueError(
            "is not the name of a user or group in Kubernetes: write it as `kubectl auth whoami` does"
        )
    if value.startswith("system:"):
        raise ValueError(
            f"`{value}` is one of Kubernetes' own, which no person is: name a user or group of your login"
        )
    return value


def token_error(token: str, *, is_app: bool) -> str:
    """Return why Slack's token is of the wrong type, without the token; empty if it may be right."""
    kind = token[:5]
    if is_app and kind in ("xoxb-", "xoxp-"):
        return f"is a token that begins with {kind}, but app_token begins with xapp-: are the two tokens swapped?"
    if not is_app and kind == "xapp-":
        return (
            "is a token that begins with xapp-, but bot_token begins with xoxb-: are the two tokens swapped?"
        )
    if not is_app and kind == "xoxp-":
        return "is a person's token (xoxp-): use the bot's token, which begins with xoxb-"
    return ""


def _token(*, is_app: bool) -> Callable[[SecretStr], SecretStr]:
    def check(value: SecretStr) -> SecretStr:
        if error := token_error(value.get_secret_value(), is_app=is_app):
            raise ValueError(error)
        return value

    return check


BotToken = Annotated[SecretStr, AfterValidator(_token(is_app=False))]
AppToken = Annotated[SecretStr, AfterValidator(_token(is_app=True))]
PersonId = Annotated[str, AfterValidator(_person)]
KubernetesName = Annotated[str, AfterValidator(_kubernetes_name)]
QualifiedId = Annotated[str, AfterValidator(_qualified_id)]
_SLACK_CHANNEL, _SLACK_GROUP = "[CGD][A-Z0-9]+", "S[A-Z0-9_]+"
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
