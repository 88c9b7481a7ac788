"""Tables in the terminal."""

import sys

import pytest

from bot.output import narrowed, show_rows, show_table


@pytest.mark.parametrize(
    ("widths", "room", "fitting"),
    [
        ([5, 10], 20, [5, 10]),
        ([5, 10], 12, [5, 7]),
        ([7, 60, 50], 67, [7, 30, 30]),
        ([50, 8, 60], 18, [6, 6, 6]),
        ([9, 9], 1, [1, 1]),
        ([], 80, []),
    ],
)
def test_the_widest_columns_give_way(widths: list[int], room: int, fitting: list[int]) -> None:
    assert narrowed(widths, room) == fitting


def test_without_a_terminal_columns_are_aligned_and_have_no_frame(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows(
        [{"node": "gpu-a01", "why": "过热 [hot]"}, {"node": "b", "why": None}],
        ("node", "why"),
        as_json=False,
    )

    assert capsys.readouterr().out == "node     why\ngpu-a01  过热 [hot]\nb\n"


def test_no_rows_are_the_names_of_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows([], ("node", "why"), as_json=False)

    assert capsys.readouterr().out == "node  why\n"


def test_a_table_is_no_wider_than_the_terminal_and_loses_no_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    words = [f"word{number}" for number in range(20)]

    show_table(("rule", "what"), [("GPUIdle", " ".join(words))], title="prod-a")

    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 40
    assert "GPUIdle" in said
    assert [word for word in words if word not in said] == []


def test_what_cannot_be_printed_reaches_no_terminal_and_does_not_narrow_its_column(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")

    show_table(("a", "what"), [("1", "a bell\x07 in\na \x1b[31mname")])

    assert "a bell\ufffd in a name" in capsys.readouterr().out
