"""Fitting: whether a name of a line can be the value of a parameter, and how it is written there."""

import click

from commands.core.matching.candidates import Name
from commands.core.number_range import NumberRangeType
from commands.core.parameter_types import (
    NUMBERED,
    PREFIXES,
    DurationType,
    MatchersType,
    NameKind,
    WholeNumberType,
    kinds_of,
    with_prefix,
)


def fits(parameter: click.Parameter, name: Name) -> bool:
    """Return whether the name is of a kind that the parameter takes. A bare number is an id, or of an option."""
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return False
    if isinstance(parameter.type, DurationType):
        return name.is_duration
    if kinds := kinds_of(parameter):
        is_bare = name.is_number and not name.kinds
        is_index = is_bare and name.unit in ("", NameKind.GPU.value)
        bare = NUMBERED if isinstance(parameter, click.Option) else PREFIXES
        return any(
            kind in name.kinds or (is_bare and kind in bare) or (is_index and kind is NameKind.GPU)
            for kind in kinds
        )
    return isinstance(parameter.type, WholeNumberType | NumberRangeType) and name.is_number


def value_for(parameter: click.Parameter, name: Name) -> str:
    """Return the name as the parameter takes it."""
    for kind in kinds_of(parameter):
        if kind in name.kinds:
            written = name.kinds[kind]
            is_matcher = isinstance(parameter.type, MatchersType)
            return f"{MatchersType.labels[kind]}={written}" if is_matcher else written
    return with_prefix(name.token.text, kinds_of(parameter))


def is_free(parameter: click.Parameter) -> bool:
    """Return whether nothing here knows its value: somebody makes it up, or it is a person's or a taint's."""
    is_unknown = {NameKind.PERSON, NameKind.TAINT} & {*kinds_of(parameter)}
    is_new = parameter.type is click.STRING and parameter.name in ("name", "priority_class")
    return (
        parameter.required
        and parameter.nargs == 1
        and (bool(is_unknown) or (is_new and isinstance(parameter, click.Argument)))
    )
