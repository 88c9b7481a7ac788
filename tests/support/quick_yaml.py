"""YAML read with libyaml: ten times faster than PyYAML's own parser, which the tests of large files would wait for."""

from collections.abc import Iterator
from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def from_yaml(text: str | bytes) -> Any:
    """Return the content of a document. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=LOADER)


def all_from_yaml(text: str | bytes) -> Iterator[Any]:
    """Return the content of each document. Raises yaml.YAMLError."""
    return yaml.load_all(text, Loader=LOADER)
