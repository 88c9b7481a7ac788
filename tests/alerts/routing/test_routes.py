"""Routes, evaluated as in Alertmanager's routing tree."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.alert import Alert
from alerts.matching import parse_matchers
from alerts.routing import Route, channels_of
from alerts.time_intervals import TimeInterval, read_period
from collectors.facts.labels import Labels
from collectors.facts.subjects import Subject
from tests.support.alerting import NOON, an_alert

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "alertmanager" / "routes_amtool.json"
TREES: list[dict[str, Any]] = json.loads(DATA.read_text()) if DATA.exists() else []


def route(match: str = "", *channels: str, continues: bool = False, routes: tuple[Route, ...] = ()) -> Route:
    return Route(matchers=parse_matchers(match), channels=channels, continues=continues, routes=routes)


def routed(*routes: Route, default: str = "home", **labels: str) -> tuple[str, ...]:
    return channels_of(an_alert(on=labels), routes, default=default)


def test_without_routes_the_default_applies() -> None:
    assert routed() == ("home",)
    assert routed(default="") == ()


def test_the_first_matching_route_wins() -> None:
    routes = (route("node=gpu-a02", "b"), route("node=~'gpu.*'".replace("'", '"'), "a"), route("", "c"))

    assert routed(*routes, node="gpu-a01") == ("a",)
    assert routed(*routes, node="gpu-a02") == ("b",)
    assert routed(*routes, component="dns") == ("c",)


def test_a_continuing_route_lets_its_siblings_match() -> None:
    assert routed(route("", "a", continues=True), route("", "b"), route("", "c")) == ("a", "b")


def test_a_continuing_route_that_does_not_match_is_skipped() -> None:
    assert routed(route("node=x", "a", continues=True), route("", "b")) == ("b",)


def test_a_matching_child_replaces_its_parent() -> None:
    tree = route("", "parent", routes=(route("severity=critical", "deep"),))

    assert routed(tree) == ("parent",)
    assert channels_of(an_alert(severity="critical"), (tree,), default="home") == ("deep",)


def test_a_child_without_channels_inherits_its_parents() -> None:
    tree = route("", "a", "b", routes=(route("node=gpu-a01"),))

    assert routed(tree, node="gpu-a01") == ("a", "b")
    assert routed(route("node=gpu-a01"), node="gpu-a01") == ("home",)


def test_a_channel_is_listed_once() -> None:
    assert routed(route("", "a", continues=True), route("", "a", "b")) == ("a", "b")


def test_routes_match_the_subject_and_the_labels() -> None:
    """The team comes from the owner of the training, not from a label that anybody may set in a query."""
    assert routed(route('team="vision"', "v"), namespace="vision", pod="detr-0") == ("v",)
    assert routed(route('rack="rack-a"', "r"), instance="10.0.0.11:9100") == ("r",)
    assert routed(route('node="gpu-a01"', "n"), Hostname="gpu-a01", gpu="1") == ("n",)


def test_a_label_takes_precedence_over_the_subject_field_of_that_name() -> None:
    assert routed(route('node="shown"', "n"), node="shown") == ("n",)


def test_a_route_to_nobody_has_no_channel_and_its_children_may_have_one() -> None:
    quiet = replace(
        route("node=gpu-a01", routes=(route("severity=critical", "deep"), route("rack=x"))), to_nobody=True
    )
    assert routed(quiet, node="gpu-a01") == ()
    assert routed(quiet, route("", "b"), node="gpu-a02") == ("b",)
    assert channels_of(an_alert(severity="critical"), (quiet,), default="home") == ("deep",)


@pytest.mark.skipif(not TREES, reason="the shared data set is not next to the checkout")
@pytest.mark.parametrize("number", range(len(TREES)))
def test_amtool_finds_the_same_receivers(number: int) -> None:
    tree = TREES[number]
    top = yaml.safe_load(tree["config"])["route"]
    routes = tuple(_route(child) for child in top.get("routes", ()))

    for case in tree["cases"]:
        found = channels_of(_alert(case["labels"]), routes, default=top["receiver"])

        assert found == tuple(dict.fromkeys(case["receivers"])), case["labels"]


def _alert(labels: dict[str, str]) -> Alert:
    """Return an alert with only these labels: amtool knows neither names nor subjects."""
    return replace(an_alert(), labels=Labels(labels), subject=Subject())


def _route(tree: dict[str, Any]) -> Route:
    return Route(
        matchers=tuple(one for text in tree.get("matchers", ()) for one in parse_matchers(text)),
        channels=(tree["receiver"],) if "receiver" in tree else (),
        continues=tree.get("continue", False),
        routes=tuple(_route(child) for child in tree.get("routes", ())),
    )


def test_overlapping_times_keep_quiet_until_the_last_ends_and_all_are_named() -> None:
    def daily(name: str, start: str, end: str) -> TimeInterval:
        return TimeInterval(name=name, periods=(read_period(times=[(start, end)]),))

    early, late, evening = (
        daily("a", "11:00", "13:00"),
        daily("b", "11:30", "14:00"),
        daily("c", "20:00", "22:00"),
    )
    muted = Route(mutes=(early, late, evening)).quiet(NOON)
    assert muted is not None
    assert (muted.interval.name, muted.is_within) == ("a, b", True)
    assert muted.interval.changes_after(NOON) == NOON + timedelta(hours=2)
    idle = Route(active=(evening, daily("d", "15:00", "16:00"))).quiet(NOON)
    assert idle is not None
    assert (idle.interval.name, idle.is_within) == ("c, d", False)
    assert idle.interval.changes_after(NOON) == NOON + timedelta(hours=3)
