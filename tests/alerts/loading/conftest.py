"""What the tests of loading share: a symbols, and loading of one rule of our own."""

from collections.abc import Callable

import pytest

from alerts.loading import Loaded, load
from alerts.rules import Symbols
from tests.alerts.loading.cases import rule

LoadRule = Callable[..., Loaded]


def _wrong_with_offer(line: str) -> str | None:
    return None if line.startswith(("node ", "dns ")) else f"no command `{line.split()[0]}`"


@pytest.fixture
def symbols() -> Symbols:
    return Symbols(
        checks={"dns-autoscaler-capped": frozenset({"growth"}), "bare": frozenset()},
        check_action=_wrong_with_offer,
    )


@pytest.fixture
def load_rule(symbols: Symbols) -> LoadRule:
    """Load a file of one rule, given its lines."""

    def loading(body: str, *, file: str = "packs/gpu.yml", own: bool = True) -> Loaded:
        return load(rule(body), file=file, symbols=symbols, own=own)

    return loading
