"""Label matchers in Alertmanager's syntax: `team="vision"`, `node=~"gpu-a.*"`, `severity!=info`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from collectors.facts.patterns import compile_pattern
from collectors.facts.sentences import said_by, sentence


class Operator(StrEnum):
    EQUAL = "="
    NOT_EQUAL = "!="
    MATCHES = "=~"
    NOT_MATCHES = "!~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matcher:
    """A condition on one label. A missing label has the empty value; patterns are anchored at both ends."""

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
    """Whether every matcher fits the labels."""
    return all(matcher.fits(labels) for matcher in matchers)


_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_MATCHER = re.compile(
    rf'\s*(?P<name>{_NAME})\s*(?P<operator>=~|!~|!=|=)\s*(?P<value>"(?:[^"\\]|\\.)*"|[^,"{{}}]*?)\s*(?:,|$)'
)
_ESCAPES = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


def parse_matchers(text: str) -> tuple[Matcher, ...]:
    """Parse matchers, with or without braces. Raise ValueError with the part that cannot be parsed."""
    rest = text.strip()
    if rest.startswith("{") and rest.endswith("}"):
        rest = rest[1:-1].strip()
    found: list[Matcher] = []
    while rest:
        match = _MATCHER.match(rest)
        if match is None:
            raise ValueError(
                sentence(
                    '`{given}` is not a matcher: write it like node="gpu-a04" or severity=~"warning|info"',
                    given=rest,
                )
            )
        value = match["value"]
        if value.startswith('"'):
            value = re.sub(r'\\[n"\\]', lambda escape: _ESCAPES[escape[0]], value[1:-1])
        operator = Operator(match["operator"])
        if operator in (Operator.MATCHES, Operator.NOT_MATCHES):
            try:
                compile_pattern(value)
            except ValueError as error:
                raise ValueError(
                    sentence(
                        "`{value}` is not a regular expression: {error}", value=value, error=said_by(error)
                    )
                ) from error
        found.append(Matcher(name=match["name"], operator=operator, value=value))
        rest = rest[match.end() :].strip()
    return tuple(found)
