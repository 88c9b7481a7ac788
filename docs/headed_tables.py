"""Tables of the rows in a YAML file, one below each of its headings."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import yaml

T = TypeVar("T")


def read_rows(path: Path, kind: type[T]) -> dict[str, tuple[T, ...]]:
    """Return the rows by their heading. Raises msgspec.ValidationError, which says where the file is wrong."""
    read = yaml.safe_load(path.read_text(encoding="utf-8"))
    return msgspec.convert(read, dict[str, tuple[kind, ...]], strict=False)  # type: ignore[valid-type]


def headed_tables(
    rows: Mapping[str, Sequence[T]], columns: Sequence[str], cells: Callable[[T], Sequence[str]]
) -> str:
    """Return a table for each heading."""
    head = [_row(columns), f"|{'---|' * len(columns)}"]
    return "\n\n".join(
        "\n".join([f"## {heading}", "", *head, *(_row(cells(one)) for one in below)])
        for heading, below in rows.items()
    )


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
