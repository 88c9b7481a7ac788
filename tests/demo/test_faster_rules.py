"""Rules are faster in the demo, and may end faster than they begin."""

from demo.faster_rules import speed_up

RULE = """\
- alert: VolumeUnmapFailed
  expr: rate(errors[15m]) > 0
  logs: {match: x, over: 15m}
  for: 15m
  keep_firing_for: 15m
"""


def test_every_duration_is_shorter() -> None:
    assert speed_up(RULE, 1 / 30) == RULE.replace("15m", "30s")


def test_what_ends_may_be_shorter_still() -> None:
    assert speed_up(RULE, 1 / 30, 1 / 90) == (
        "- alert: VolumeUnmapFailed\n"
        "  expr: rate(errors[30s]) > 0\n"
        "  logs: {match: x, over: 10s}\n"
        "  for: 30s\n"
        "  keep_firing_for: 10s\n"
    )


def test_a_line_that_is_written_once_is_counted_for_ten_seconds() -> None:
    """On a busy machine it is shipped and looked for late; six seconds missed it."""
    assert "over: 10s" in speed_up(RULE.replace("15m", "5m"), 1 / 30, 1 / 90)
