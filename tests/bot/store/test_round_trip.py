"""A row of any kind is read back as it was stored."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from alerts.store import TABLES, TableDefinition, moment_text
from bot.store.documents import decode, encode
from tests.support.examples import share
from tests.support.rows import NOON, an_alert, rich


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
@share(0.6, suppress_health_check=[HealthCheck.too_slow])
@given(choice=st.data())
def test_a_rich_row_comes_back_equal(table: TableDefinition[Any], choice: st.DataObject) -> None:
    row = choice.draw(rich(table.row))
    again = decode(table, encode(table, row))
    assert repr(again) == repr(row)  # as text: NaN is not equal to itself
    assert type(again) is type(row)
    assert all(type(value) is str for value in table.read(row).values())


def test_moments_sort_as_text() -> None:
    assert moment_text(NOON.replace(microsecond=5)) > moment_text(NOON) == "2026-03-01T12:00:00.000000Z"


def test_labels_come_back_as_labels() -> None:
    table = TABLES["alerts"]
    again = decode(table, encode(table, an_alert()))
    assert again.labels.key == an_alert().labels.key
    assert again.id == an_alert().id
