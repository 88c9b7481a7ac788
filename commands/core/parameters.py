"""Parameters of commands as definitions write them: flags, options with a value, arguments of many commands."""

from collections.abc import Sequence, Set
from typing import Any

import click

from commands.core.parameter_types import DURATION, GPU_NAME, INCIDENT, NODE, POD, DurationType, NameType

NODE_ARGUMENT = click.Argument(["node"], type=NODE)
NODES_ARGUMENT = click.Argument(["nodes"], type=NODE, nargs=-1, required=True, metavar="NODE")
GPU_ARGUMENT = click.Argument(["gpu"], type=GPU_NAME, metavar="GPU")
POD_ARGUMENT = click.Argument(["pod"], type=POD)
INCIDENT_ARGUMENT = click.Argument(["incident"], type=INCIDENT)


class RequiredUnless(click.Option):
    """An option that is required, unless one of those is given that say it in another way: it is empty then."""

    def __init__(self, declarations: Sequence[str], *, unless: Sequence[str], **settings: Any) -> None:
        super().__init__(declarations, required=True, **settings)
        self.unless = frozenset(unless)

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        others = (one for one in ctx.command.params if not self.unless.isdisjoint(one.opts))
        given = any(ctx.params.get(one.name or "") for one in others)
        return "" if given and self.value_is_missing(value) else super().process_value(ctx, value)


class WithFile(click.Option):
    """A flag that reads a file which is uploaded with the line. A form takes none, so it has no field for it."""

    def __init__(self, declarations: Sequence[str], **settings: Any) -> None:
        super().__init__(declarations, is_flag=True, **settings)


def flag(*declarations: str, help: str) -> click.Option:
    """Return an option without a value."""
    return click.Option(declarations, is_flag=True, help=help)


def option(
    *declarations: str,
    help: str,
    type: click.ParamType[Any] = click.STRING,
    required: bool = False,
    **settings: Any,
) -> click.Option:
    """Return an option with a value. Its metavar is the word of its type; a name or text that is not given is empty."""
    settings.setdefault("metavar", _word_of(type))
    is_text = isinstance(type, NameType | click.types.StringParamType)
    if is_text and not required and not settings.get("multiple"):
        settings.setdefault("default", "")
    made = click.Option(declarations, type=type, required=required, help=help, **settings)
    made.help = help  # click makes a plain string of a sentence
    return made


def _word_of(type: click.ParamType[Any]) -> str | None:
    if isinstance(type, NameType) and len(type.kinds) == 1:
        return type.kinds[0].value.upper()
    return "DURATION" if isinstance(type, DurationType) else None


def is_missing(parameter: click.Parameter, given: Set[str], *, has_value: bool) -> bool:
    """Whether a parameter is required, and has neither a value nor, for an option, a name among those given."""
    if not parameter.required or not isinstance(parameter, click.Option):
        return parameter.required and not has_value
    named = {*parameter.opts, *(parameter.unless if isinstance(parameter, RequiredUnless) else ())}
    return given.isdisjoint(named)


def reason_option(help: str, *, required: bool = False) -> click.Option:
    """Return the option. A required one has no default: without it the line opens its form."""
    return option("--reason", metavar="TEXT", required=required, help=help)


def ask_owners_option() -> click.Option:
    """Return the option of a command that ends running work: `PlanDraft.ask_owners`."""
    return flag("--ask-owners", help="wait until the owners of the trainings that it ends have answered")


def lasting_option(help: str, **settings: Any) -> click.Option:
    """Return the option of a command whose effect ends by itself."""
    return option("--for", "lasting", type=DURATION, help=help, **settings)
