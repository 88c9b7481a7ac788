"""Types of settings' values: each is checked where a setting is declared, and its error says how to write it."""

import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, SecretStr, StringConstraints, WithJsonSchema
from yarl import URL

from alerts.loading.node_reader import did_you_mean
from bot.store.backends.backend_catalogue import backend_of, engine_of
from collectors.facts.places import PLACES
from collectors.facts.redaction import Redactor
from collectors.facts.subjects import WORDS
from collectors.sources.elasticsearch.options import DEFAULT_FIELDS
from collectors.sources.prometheus.dialects.families import FAMILIES, Role
from collectors.sources.prometheus.exporters import UNEXPOSED
from commands.acceptance.suites import LEASE_AUTOMATION
from commands.command_catalogue import CATALOGUE
from commands.core.remediations import REMEDIATION
from commands.gpu.reclaim_requests import AUTOMATION

AUTOMATIONS = (AUTOMATION, REMEDIATION, LEASE_AUTOMATION)  # the actors that the settings may permit commands
_NODE_LABEL = r"([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def _address(value: str) -> str:
    """Check the address of a server. It may contain a password, which no error shows."""
    shown = re.sub(r"[^/@]*@", "", value)
    if not value.strip():
        raise ValueError("is empty: write an address such as http://server.example:9090")
    if "://" not in value:
        raise ValueError(f"`{shown}` has no scheme: write http://{shown} or https://{shown}")
    try:
        url = URL(value)
    except ValueError:
        raise ValueError(f"`{shown}` is not an address: write it like http://server.example:9090") from None
    if url.scheme not in ("http", "https"):
        raise ValueError(f"`{url.scheme}` is not a scheme of a server here: use http or https")
    if not url.host:
        raise ValueError(f"`{shown}` names no host: write it like http://server.example:9090")
    return value


def _address_without_login(value: str) -> str:
    url = URL(_address(value))
    if url.user is not None or url.password is not None:
        raise ValueError(f"the address of {url.host} has a user or password: use basic_auth or api_key_file")
    return value


def _secret_address(value: SecretStr) -> SecretStr:
    _address(value.get_secret_value())
    return value


def _optional_address(value: str) -> str:
    return _address(value) if value else value


def _timezone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        near = did_you_mean(value, available_timezones())
        raise ValueError(
            f"`{value}` is not a time zone{near or ': write it like UTC or Asia/Shanghai'}"
        ) from None
    return value


_TIME_SHAPE = r"^(([01][0-9]|2[0-3]):[0-5][0-9])?$"


def _time_of_day(value: str) -> str:
    if re.fullmatch(_TIME_SHAPE, value) is None:
        raise ValueError(f"`{value}` is not a time of the day: write it like 09:00")
    return value


def _redact_pattern(value: str) -> str:
    try:
        Redactor((value,))
    except ValueError as error:
        raise ValueError(str(error).removeprefix("redact: ")) from None
    return value


def _store_url(value: str) -> str:
    try:
        backend = backend_of(value)
        engine_of(backend)
        backend.check()
    except ValueError as error:
        raise ValueError(str(error).replace("store.url", "it")) from None
    return value


def _listen(value: str) -> str:
    host, colon, port = value.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ValueError(
            f"`{value}` is not an address and a port: write it like 127.0.0.1:9099 or 0.0.0.0:9099"
        )
    if "/" in host or " " in host:
        raise ValueError(f"`{value}` has more than an address and a port: write it like 127.0.0.1:9099")
    return value


def _command_pattern(value: str) -> str:
    names = [command.name for command in CATALOGUE]
    if any(fnmatchcase(name, value) for name in names):
        return value
    known = [*names, *(f"{noun} *" for noun in dict.fromkeys(command.noun for command in CATALOGUE))]
    near = did_you_mean(value, known) or "; `help` lists the commands, and `node *` stands for all of a noun"
    raise ValueError(f"`{value}` is not a command{near}")


def _automation(value: str) -> str:
    if value not in AUTOMATIONS:
        raise ValueError(f"`{value}` is not an automation{did_you_mean(value, AUTOMATIONS)}")
    return value


def _log_field(value: str) -> str:
    if value not in DEFAULT_FIELDS:
        raise ValueError(
            f"`{value}` is not a word for a field of log lines{did_you_mean(value, DEFAULT_FIELDS)}"
        )
    return value


def _exporter(value: str) -> str:
    names = [family.name for family in FAMILIES if family.roles]
    if value not in names:
        near = did_you_mean(value, names) or f"; known are {', '.join(names)}"
        raise ValueError(f"`{value}` is not an exporter whose labels are looked up{near}")
    return value


def _control_plane_part(value: str) -> str:
    if value not in UNEXPOSED.values():
        near = did_you_mean(value, UNEXPOSED.values()) or f"; known are {', '.join(UNEXPOSED.values())}"
        raise ValueError(f"`{value}` is not a part of the control plane with metrics of its own{near}")
    return value


def _place_kind(value: str) -> str:
    if value not in PLACES:
        near = did_you_mean(value, PLACES) or f"; known are {', '.join(PLACES)}"
        raise ValueError(f"`{value}` is not a kind of place{near}")
    return value


def _node_label(value: str) -> str:
    if not re.fullmatch(_NODE_LABEL, value):
        raise ValueError(f"`{value}` is not the name of a node's label: write it like example.com/power-zone")
    return value


def _label_role(value: str) -> str:
    roles = [role.value for role in Role]
    if value not in roles:
        near = did_you_mean(value, roles) or f"; known are {', '.join(roles)}"
        raise ValueError(f"`{value}` is not what a label can mean{near}")
    return value


def _link(value: str) -> str:
    known = (*WORDS, "query")  # alerts/cards/query_links.py
    for word in _PLACEHOLDER.findall(value):
        if word not in known:
            near = did_you_mean(word, known) or f"; known are {', '.join(known)}"
            raise ValueError(f"`{{{word}}}` is not a word of a subject{near}")
    _address(_PLACEHOLDER.sub("x", value))
    return value


def _pull_secret(value: str) -> str:
    if value and not re.fullmatch(r"[a-z0-9][a-z0-9.-]*/[a-z0-9][a-z0-9.-]*", value):
        raise ValueError(f"`{value}` is not namespace/name: write it like ops/registry")
    return value


def _named(pattern: str, text: str) -> Callable[[str], str]:
    def check(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"`{value}` {text}")
        return value

    return check


_NOUNS = tuple(dict.fromkeys(command.noun for command in CATALOGUE))


# What a schema can refuse of a command's pattern: a verb that does not exist, and a noun that nothing begins with.
_COMMAND_SHAPE = "^(?:{names}|(?:{nouns}) .*[*?\\\\[].*|[^ ]*[*?\\\\[].*)$".format(
    names="|".join(command.name for command in CATALOGUE), nouns="|".join(_NOUNS)
)
_URL = r"^https?://[^\s/]+"
_LISTEN_SHAPE = r"^[^/\s]*:[0-9]{1,5}$"


def shaped(pattern: str) -> WithJsonSchema:
    """Return the JSON schema of a text, from which the chart's values get theirs: it sees no more than one value."""
    return WithJsonSchema({"type": "string", "pattern": pattern})


def _one_of(values: Iterable[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(values)})


Address = Annotated[str, AfterValidator(_address), shaped(_URL)]
OptionalAddress = Annotated[str, AfterValidator(_optional_address), shaped(f"^$|{_URL}")]
AddressWithoutLogin = Annotated[str, AfterValidator(_address_without_login), shaped(_URL)]
SecretAddress = Annotated[SecretStr, AfterValidator(_secret_address), shaped(_URL)]
TimeOfDay = Annotated[str, AfterValidator(_time_of_day), shaped(_TIME_SHAPE)]
TimeZone = Annotated[str, AfterValidator(_timezone), WithJsonSchema({"type": "string", "format": "timezone"})]
PackName = Annotated[str, WithJsonSchema({"type": "string", "format": "pack"})]
RedactPattern = Annotated[str, AfterValidator(_redact_pattern)]
StoreUrl = Annotated[str, AfterValidator(_store_url)]
ListenAddress = Annotated[str, AfterValidator(_listen), shaped(_LISTEN_SHAPE)]
CommandPattern = Annotated[str, AfterValidator(_command_pattern), shaped(_COMMAND_SHAPE)]
AutomationName = Annotated[str, AfterValidator(_automation)]
LogField = Annotated[str, AfterValidator(_log_field), _one_of(DEFAULT_FIELDS)]
ExporterName = Annotated[
    str, AfterValidator(_exporter), _one_of(family.name for family in FAMILIES if family.roles)
]
ControlPlanePart = Annotated[str, AfterValidator(_control_plane_part), _one_of(UNEXPOSED.values())]
PlaceKind = Annotated[str, AfterValidator(_place_kind), _one_of(PLACES)]
NodeLabel = Annotated[str, AfterValidator(_node_label), shaped(f"^{_NODE_LABEL}$")]
LabelRole = Annotated[str, AfterValidator(_label_role), _one_of(role.value for role in Role)]
LabelName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]


def _label_value(value: str) -> str:
    if not value:
        raise ValueError(
            "an empty value means series without the label: name a value, or leave the label out"
        )
    return value


LabelValue = Annotated[str, AfterValidator(_label_value)]
Link = Annotated[str, AfterValidator(_link)]
PullSecret = Annotated[str, AfterValidator(_pull_secret)]
_CLUSTER = r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?"
_CHANNEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
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
