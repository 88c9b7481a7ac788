"""Fixtures of the loading tests: symbols, and a loader for a file with one rule."""

from collections.abc import Callable

import pytest

from alerts.loading import Loaded, load
from alerts.rules import Symbols
from tests.alerts.loading.cases import rule

LoadRule = Callable[..., Loaded]


def _action_error(line: str) -> str | None:
    return None if line.startswith(("node ", "dns ")) else f"no command `{line.split()[0]}`"


@pytest.fixture
def symbols() -> Symbols:
    return Symbols(
        checks={"dns-autoscaler-capped": {"growth": 1.0}, "bare": {}},
        runbooks=frozenset({"gpu-temperature-high"}),
        check_action=_action_error,
    )


@pytest.fixture
def load_rule(symbols: Symbols) -> LoadRule:
    """Return a function that loads a file with one rule of these lines."""

    def load_body(body: str, *, file: str = "packs/gpu.yml", own: bool = True) -> Loaded:
        return load(rule(body), file=file, symbols=symbols, own=own)

    return load_body
