"""Routes are walked as Alertmanager walks its tree."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.alert import Alert
from alerts.matching import parse_matchers
from alerts.routing import Route, channels_of
from collectors.facts.labels import Labels
from collectors.facts.subjects import Subject
from tests.support.alerting import an_alert

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "alertmanager" / "routes_amtool.json"
TREES: list[dict[str, Any]] = json.loads(DATA.read_text()) if DATA.exists() else []


def route(match: str = "", *channels: str, continues: bool = False, routes: tuple[Route, ...] = ()) -> Route:
    return Route(matchers=parse_matchers(match), channels=channels, continues=continues, routes=routes)


def told(*routes: Route, default: str = "home", **labels: str) -> tuple[str, ...]:
    return channels_of(an_alert(on=labels), routes, default=default)


def test_without_routes_it_goes_home() -> None:
    assert told() == ("home",)
    assert told(default="") == ()


def test_the_first_route_that_fits_takes_it() -> None:
    routes = (route("node=gpu-a02", "b"), route("node=~'gpu.*'".replace("'", '"'), "a"), route("", "c"))

    assert told(*routes, node="gpu-a01") == ("a",)
    assert told(*routes, node="gpu-a02") == ("b",)
    assert told(*routes, component="dns") == ("c",)


def test_a_route_that_continues_lets_its_siblings_speak_too() -> None:
    assert told(route("", "a", continues=True), route("", "b"), route("", "c")) == ("a", "b")


def test_a_continuing_route_that_does_not_fit_stops_nothing() -> None:
    assert told(route("node=x", "a", continues=True), route("", "b")) == ("b",)


def test_the_deepest_that_fits_speaks_and_its_parent_is_silent() -> None:
    tree = route("", "parent", routes=(route("severity=critical", "deep"),))

    assert told(tree) == ("parent",)
    assert channels_of(an_alert(severity="critical"), (tree,), default="home") == ("deep",)


def test_a_child_without_channels_has_all_of_its_parents() -> None:
    tree = route("", "a", "b", routes=(route("node=gpu-a01"),))

    assert told(tree, node="gpu-a01") == ("a", "b")
    assert told(route("node=gpu-a01"), node="gpu-a01") == ("home",)


def test_a_channel_is_told_once() -> None:
    assert told(route("", "a", continues=True), route("", "a", "b")) == ("a", "b")


def test_routes_see_the_subject_beside_the_labels() -> None:
    """The team is read from whose training it is, not from a label that anybody may set in a query."""
    assert told(route('team="vision"', "v"), namespace="vision", pod="detr-0") == ("v",)
    assert told(route('rack="rack-a"', "r"), instance="10.0.0.11:9100") == ("r",)
    assert told(route('node="gpu-a01"', "n"), Hostname="gpu-a01", gpu="1") == ("n",)


def test_a_label_wins_over_the_subjects_word_of_the_same_name() -> None:
    assert told(route('node="shown"', "n"), node="shown") == ("n",)


@pytest.mark.skipif(not TREES, reason="the data set does not stand beside the checkout")
@pytest.mark.parametrize("number", range(len(TREES)))
def test_amtool_names_the_same_receivers(number: int) -> None:
    tree = TREES[number]
    top = yaml.safe_load(tree["config"])["route"]
    routes = tuple(_route(child) for child in top.get("routes", ()))

    for case in tree["cases"]:
        found = channels_of(_alert(case["labels"]), routes, default=top["receiver"])

        assert found == tuple(dict.fromkeys(case["receivers"])), case["labels"]


def _alert(labels: dict[str, str]) -> Alert:
    """An alert with these labels alone: amtool knows neither names nor subjects."""
    return replace(an_alert(), labels=Labels(labels), subject=Subject())


def _route(tree: dict[str, Any]) -> Route:
    return Route(
        matchers=tuple(one for text in tree.get("matchers", ()) for one in parse_matchers(text)),
        channels=(tree["receiver"],) if "receiver" in tree else (),
        continues=tree.get("continue", False),
        routes=tuple(_route(child) for child in tree.get("routes", ())),
    )
