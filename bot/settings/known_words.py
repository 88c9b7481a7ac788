"""Words in the settings that must be known: an error names the nearest one."""

from fnmatch import fnmatchcase
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, WithJsonSchema

from alerts.loading.node_reader import did_you_mean
from bot.settings.json_shapes import one_of, shaped
from collectors.facts.redaction import Redactor
from collectors.sources.elasticsearch.options import DEFAULT_FIELDS
from collectors.sources.prometheus.dialects.families import FAMILIES, Role
from commands.command_catalogue import CATALOGUE
from commands.gpu.reclaim_requests import AUTOMATION

AUTOMATIONS = (AUTOMATION,)  # the actors that the settings may permit commands
_NOUNS = tuple(dict.fromkeys(command.noun for command in CATALOGUE))
# What a schema can refuse of a command's pattern: a verb that does not exist, and a noun that nothing begins with.
_COMMAND_SHAPE = "^(?:{names}|(?:{nouns}) .*[*?\\\\[].*|[^ ]*[*?\\\\[].*)$".format(
    names="|".join(command.name for command in CATALOGUE), nouns="|".join(_NOUNS)
)


def _timezone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        near = did_you_mean(value, available_timezones())
        raise ValueError(
            f"`{value}` is not a time zone{near or ': write it like UTC or Asia/Shanghai'}"
        ) from None
    return value


def _redact_pattern(value: str) -> str:
    try:
        Redactor((value,))
    except ValueError as error:
        raise ValueError(str(error).removeprefix("redact: ")) from None
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


def _label_role(value: str) -> str:
    roles = [role.value for role in Role]
    if value not in roles:
        near = did_you_mean(value, roles) or f"; known are {', '.join(roles)}"
        raise ValueError(f"`{value}` is not what a label can mean{near}")
    return value


TimeZone = Annotated[str, AfterValidator(_timezone), WithJsonSchema({"type": "string", "format": "timezone"})]
PackName = Annotated[str, WithJsonSchema({"type": "string", "format": "pack"})]
RedactPattern = Annotated[str, AfterValidator(_redact_pattern)]
CommandPattern = Annotated[str, AfterValidator(_command_pattern), shaped(_COMMAND_SHAPE)]
AutomationName = Annotated[str, AfterValidator(_automation)]
LogField = Annotated[str, AfterValidator(_log_field), one_of(DEFAULT_FIELDS)]
ExporterName = Annotated[
    str, AfterValidator(_exporter), one_of(family.name for family in FAMILIES if family.roles)
]
LabelRole = Annotated[str, AfterValidator(_label_role), one_of(role.value for role in Role)]
