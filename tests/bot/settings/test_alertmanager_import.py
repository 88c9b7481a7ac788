"""An Alertmanager's configuration becomes settings that route as it does; what has no counterpart is named."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from alerts.routing import channels_of
from bot.cli.route_commands import routes
from bot.settings.alertmanager_import import ImportRefusedError, as_yaml, import_alertmanager
from bot.settings.mapping import routing_of
from bot.settings.schema import Settings
from collectors.facts.labels import Labels
from collectors.facts.subjects import Subject
from tests.support.alerting import an_alert

DATA = Path(__file__).parents[3].parent / "shared" / "data" / "alertmanager" / "routes_amtool.json"
TREES: list[dict[str, Any]] = json.loads(DATA.read_text()) if DATA.exists() else []

FULL = """
global: {resolve_timeout: 5m, slack_api_url: 'https://hooks.slack.example/T/B/secret'}
templates: ['/etc/alertmanager/*.tmpl']
route:
  receiver: everybody
  group_by: [alertname, cluster]
  group_wait: 30s
  repeat_interval: 12h
  routes:
    - match: {alertname: Watchdog}
      receiver: "null"
    - matchers: ['team = gpu', 'severity=~"critical|warning"']
      match_re: {node: gpu-.*}
      receiver: gpu
      continue: true
      repeat_interval: 1h
      mute_time_intervals: [nights]
    - receiver: pager
      active_time_intervals: [office]
      matchers: [severity=critical]
receivers:
  - name: everybody
    webhook_configs: [{url: 'http://127.0.0.1/'}]
  - name: "null"
  - name: gpu
    slack_configs: [{channel: '#gpu'}]
  - name: pager
    pagerduty_configs: [{routing_key: secret}]
  - name: unused
    email_configs: [{to: a@example.org}]
inhibit_rules:
  - source_match: {alertname: NodeDown}
    target_match_re: {severity: warning|info}
    equal: [node]
mute_time_intervals:
  - name: nights
    time_intervals:
      - times: [{start_time: 22:00, end_time: '24:00'}, {start_time: '00:00', end_time: 06:00}]
        location: Europe/Berlin
time_intervals:
  - name: office
    time_intervals:
      - {weekdays: ['monday:friday'], months: [1, 'may:july'], years: [2026], days_of_month: ['1:-1']}
"""


def settings_of(text: str, **channels: str) -> Settings:
    return Settings(**yaml.safe_load(as_yaml(import_alertmanager(text, channels))))


def test_everything_that_has_a_counterpart_is_carried_over() -> None:
    settings = settings_of(FULL, everybody="console:log", gpu="slack:C0123456")
    routing = routing_of(settings, default="slack:C0000000")
    (top,) = routing.routes
    watchdog, gpu, pager = top.routes
    assert (top.channels, watchdog.to_nobody, gpu.channels, gpu.continues) == (
        ("console:log",),
        True,
        ("slack:C0123456",),
        True,
    )
    assert [str(one) for one in gpu.matchers] == [
        'team="gpu"',
        'severity=~"critical|warning"',
        'node=~"gpu-.*"',
    ]
    assert ([one.name for one in gpu.mutes], [one.name for one in pager.active]) == (["nights"], ["office"])
    assert gpu.mutes[0].periods[0].times == ((1320, 1440), (0, 360))
    (rule,) = routing.inhibit_rules
    assert (str(rule.sources[0]), str(rule.targets[0]), rule.equal) == (
        'alertname="NodeDown"',
        'severity=~"warning|info"',
        ("node",),
    )


def test_what_has_no_counterpart_is_named_with_what_to_do_instead() -> None:
    found = import_alertmanager(FULL, {"everybody": "console:log"})
    said = "\n".join(found.notes)
    for part in (
        "receiver `gpu` (slack_configs): give its channel with --channel 'gpu=ID'",
        "receiver `pager` (pagerduty_configs)",
        "receiver `unused`: no route uses it",
        "group_by (alertname, cluster)",
        "group_wait (30s)",
        "repeat_interval (12h, 1h): a critical incident that nobody acknowledged is repeated",
        "global: ",
        "templates: ",
    ):
        assert part in said
    assert "null" not in said
    assert "secret" not in as_yaml(found)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "is not YAML"),
        ("groups: []", "has no `route`"),
        ("route: {routes: []}", "has no receiver"),
        ("route: {receiver: a, matchers: ['a=b']}", "must not have any matchers"),
        ("route: {receiver: a, routes: [{matchers: ['a b']}]}", "is not a matcher"),
        ("route: {receiver: a, routes: [b]}", "is not built like"),
        ("route: {receiver: a, routes: 3}", "is not built like"),
        ("route: {receiver: a, routes: [{match: b}]}", "is not built like"),
        ("{route: {receiver: a}, receivers: 1}", "is not built like"),
        ("{route: {receiver: a}, inhibit_rules: [b]}", "is not built like"),
        ("{route: {receiver: a}, time_intervals: [{}]}", "'name' is missing"),
        ("{route: {receiver: a}, time_intervals: [{name: b, time_intervals: [c]}]}", "is not built like"),
        (
            "{route: {receiver: a}, time_intervals: [{name: b, time_intervals: [{times: [{start_time: 1}]}]}]}",
            "'end_time' is missing",
        ),
    ],
)
def test_what_is_no_configuration_is_refused(text: str, why: str) -> None:
    with pytest.raises(ImportRefusedError, match=why):
        import_alertmanager(text, {})


@pytest.mark.skipif(not TREES, reason="the shared data set is not next to the checkout")
@pytest.mark.parametrize("number", range(len(TREES)))
def test_an_imported_tree_routes_as_amtool_says(number: int) -> None:
    tree = TREES[number]
    config = yaml.safe_load(tree["config"])
    for receiver in config["receivers"]:
        receiver["webhook_configs"] = [{"url": "http://127.0.0.1/"}]  # one without any is nobody
    routing = routing_of(settings_of(yaml.safe_dump(config)), default="")
    for case in tree["cases"]:
        alert = replace(an_alert(), labels=Labels(case["labels"]), subject=Subject())
        found = channels_of(alert, routing.routes, default="")
        assert found == tuple(dict.fromkeys(case["receivers"])), case["labels"]


def test_the_command_prints_settings_and_names_a_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "alertmanager.yml"
    file.write_text(FULL, encoding="utf-8")
    run = CliRunner().invoke(routes, ["import", str(file), "--channel", "gpu=slack:C0123456"])
    assert run.exit_code == 0
    assert yaml.safe_load(run.stdout)["routes"][0]["routes"][1]["channels"] == ["slack:C0123456"]
    assert run.stdout.startswith("# From an Alertmanager's configuration")
    assert CliRunner().invoke(routes, ["import", str(file), "--channel", "gpu"]).exit_code == 2
    file.write_text("a: [", encoding="utf-8")
    bad = CliRunner().invoke(routes, ["import", str(file)])
    assert (bad.exit_code, "is not YAML" in bad.stderr) == (1, True)
