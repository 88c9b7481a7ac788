"""This file has matchers as Alertmanager reads them: `team="vision"`, `node=~"gpu-a.*"`, `severity!=info`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from collectors.facts.patterns import compile_pattern


class Operator(StrEnum):
    EQUAL = "="
    NOT_EQUAL = "!="
    MATCHES = "=~"
    NOT_MATCHES = "!~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """One condition on a label; a label that is missing has the empty value. Patterns are anchored at both ends."""

    name: str
    operator: Operator
    value: str

    def __str__(self) -> str:
        quoted = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.name}{self.operator.value}"{quoted}"'

    def fits(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.name, "")
        match self.operator:
            case Operator.EQUAL:
                return value == self.value
            case Operator.NOT_EQUAL:
                return value != self.value
            case Operator.MATCHES:
                return compile_pattern(self.value).fullmatch(value) is not None
            case Operator.NOT_MATCHES:
                return compile_pattern(self.value).fullmatch(value) is None


def matches(matchers: tuple[Matcher, ...], labels: Mapping[str, str]) -> bool:
    """Whether all matchers fit."""
    return all(matcher.fits(labels) for matcher in matchers)


_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_ONE = re.compile(
    rf'\s*(?P<name>{_NAME})\s*(?P<operator>=~|!~|!=|=)\s*(?P<value>"(?:[^"\\]|\\.)*"|[^,"{{}}]*?)\s*(?:,|$)'
)
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def parse_matchers(text: str) -> tuple[Matcher, ...]:
    """Read matchers, with or without braces. Raises ValueError that shows the rest it cannot read."""
    rest = text.strip()
    if rest.startswith("{") and rest.endswith("}"):
        rest = rest[1:-1].strip()
    found: list[Matcher] = []
    while rest:
        one = _ONE.match(rest)
        if one is None:
            raise ValueError(
                f'`{rest}` is not a matcher: write it like node="gpu-a04" or severity=~"warning|info"'
            )
        value = one["value"]
        if value.startswith('"'):
            value = re.sub(r'\\[n"\\]', lambda escape: _ESCAPES[escape[0]], value[1:-1])
        operator = Operator(one["operator"])
        if operator in (Operator.MATCHES, Operator.NOT_MATCHES):
            try:
                compile_pattern(value)
            except ValueError as error:
                raise ValueError(f"`{value}` is not a regular expression: {error}") from error
        found.append(Matcher(name=one["name"], operator=operator, value=value))
        rest = rest[one.end() :].strip()
    return tuple(found)
