"""Lines with made-up secrets in the formats that vendors document, and harmless lines that look a little like them.

A form has its secrets in ⟦ ⟧, with a ¦ inside each, so that no scanner of secrets takes the file for one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from collectors.facts.redaction import MARK
from tests.support.quick_yaml import from_yaml

_FOLDER = Path(__file__).parents[1] / "collectors" / "facts" / "secrets"
_SECRET = re.compile("⟦([^⟧]*)⟧")


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretForm:
    """A line, the secrets in it, and what it is without them."""

    family: str
    line: str
    secrets: tuple[str, ...]
    redacted: str


@cache
def secret_forms() -> Sequence[SecretForm]:
    return tuple(
        SecretForm(
            family=family,
            line=_SECRET.sub(r"\1", written),
            secrets=tuple(_SECRET.findall(written)),
            redacted=_SECRET.sub(MARK, written),
        )
        for family, lines in _read("forms.yaml").items()
        for written in (line.replace("¦", "") for line in lines)
    )


@cache
def harmless_lines() -> Sequence[str]:
    return tuple(line for lines in _read("harmless.yaml").values() for line in lines)


def _read(name: str) -> dict[str, list[str]]:
    read: dict[str, list[str]] = from_yaml((_FOLDER / name).read_text(encoding="utf-8"))
    return read
