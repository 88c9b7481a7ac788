"""Silences as Alertmanager's API, version 2, writes them in JSON."""

from datetime import datetime

import msgspec

from alerts.matching import Matcher, Operator
from collectors.facts.patterns import compile_pattern

_SIGNS = {  # (isRegex, isEqual)
    (False, True): Operator.EQUAL,
    (False, False): Operator.NOT_EQUAL,
    (True, True): Operator.MATCHES,
    (True, False): Operator.NOT_MATCHES,
}


class WireMatcher(msgspec.Struct, rename="camel"):
    name: str
    value: str
    is_regex: bool = False
    is_equal: bool = True

    def read(self) -> Matcher:
        """Return it as a matcher of ours. Raises ValueError if its expression cannot be one."""
        if self.is_regex:
            compile_pattern(self.value)
        return Matcher(name=self.name, operator=_SIGNS[self.is_regex, self.is_equal], value=self.value)

    @classmethod
    def of(cls, matcher: Matcher) -> "WireMatcher":
        """Return a matcher of ours in the form of the API."""
        is_regex, is_equal = next(key for key, operator in _SIGNS.items() if operator is matcher.operator)
        return cls(name=matcher.name, value=matcher.value, is_regex=is_regex, is_equal=is_equal)


class WireState(msgspec.Struct):
    state: str = ""


class WireSilence(msgspec.Struct, rename="camel"):
    """A silence, as it is posted or as it is shown."""

    matchers: list[WireMatcher]
    ends_at: datetime
    starts_at: datetime | None = None
    comment: str = ""
    created_by: str = ""
    id: str = ""
    status: WireState = msgspec.field(default_factory=WireState)

    @property
    def is_expired(self) -> bool:
        return self.status.state == "expired"
