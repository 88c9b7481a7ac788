"""Whole rule files: locations, Kubernetes objects, lists, hostile files, and arbitrary text."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.loading import load, merge
from alerts.rules import RuleGroup, Symbols
from tests.alerts.loading.cases import rule

TWO_INVALID = """\
groups:
- name: one
  rules:
  - alert: A
    expr: sum(up
    for: never
    labels: {a-b: c}
- name: one
  rules:
  - alert: B
    expr: |
      sum(up)
        > nosuch(up)
"""

OBJECT = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: x, labels: {any: thing}}
spec:
  groups:
  - name: g
    interval: 1m
    partial_response_strategy: warn
    labels: {team: sre}
    rules:
    - {alert: A, expr: up, labels: {severity: info}}
    - {alert: A, expr: up == 0}
    - {record: a:b, expr: sum(up)}
"""


def diagnostics(text: str | bytes, file: str = "x.yml") -> list[str]:
    return [str(diagnostic) for diagnostic in load(text, file=file, symbols=Symbols(), own=False).diagnostics]


def groups(text: str, file: str = "x.yml") -> tuple[RuleGroup, ...]:
    loaded = load(text, file=file, symbols=Symbols(), own=False)
    assert loaded.diagnostics == ()
    return loaded.groups


def test_every_error_of_a_file_is_reported_with_its_location() -> None:
    assert diagnostics(TWO_INVALID) == [
        'x.yml:5:14: group "one", rule 1, "A": could not parse expression: 1:4: parse error: unclosed left parenthesis',
        'x.yml:6:10: group "one", rule 1, "A": for: `never` is not a duration: write it like 30s, 5m, 1h30m or 7d',
        'x.yml:7:19: group "one", rule 1, "A": invalid label name: a-b',
        'x.yml:8:9: groupname: "one" is repeated in the same file',
        'x.yml:13:11: group "one", rule 1, "B": could not parse expression: 2:5: parse error: '
        "unknown function with name 'nosuch'",
    ]


def test_an_invalid_rule_is_left_out_and_the_others_load() -> None:
    text = "groups:\n- name: g\n  rules:\n  - {alert: A, expr: up}\n  - {alert: B}\n"

    loaded = load(text, file="x.yml", symbols=Symbols(), own=False)

    assert [one.name for one in loaded.groups[0].rules] == ["A"]
    assert len(loaded.diagnostics) == 1


def test_a_prometheus_rule_object_loads() -> None:
    (group,) = groups(OBJECT, "rules/gpu.rules.yaml")

    assert [one.id for one in group.rules] == ["gpu/g/A", "gpu/g/A#2"]
    assert group.rules[0].template.labels == {"team": "sre", "severity": "info"}
    assert group.rules[0].interval == timedelta(minutes=1)
    assert group.recording_rules[0].name == "a:b"
    assert group.recording_rules[0].labels == {"team": "sre"}
    assert group.rules[1].location.line == 12


def test_a_list_and_a_stream_of_objects_load() -> None:
    indented = OBJECT.replace("\n", "\n  ").rstrip()

    listed = groups(f"apiVersion: v1\nkind: List\nmetadata: {{resourceVersion: ''}}\nitems:\n- {indented}\n")
    streamed = groups(f"{OBJECT}---\n{OBJECT}")

    assert [one.id for group in listed for one in group.rules] == ["x/g/A", "x/g/A#2"]
    assert [one.id for group in streamed for one in group.rules] == ["x/g/A", "x/g/A#2", "x/g/A#3", "x/g/A#4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OBJECT.replace("sum(up)", "sum(up"), "x.yml:13:30: "),
        (OBJECT.replace("PrometheusRule", "ConfigMap"), "a ConfigMap contains no rules"),
        (OBJECT.replace("spec:", "specs:"), "unknown field `specs`"),
        (OBJECT.replace("  groups:", "  group:"), "unknown field `group` in the spec of a PrometheusRule"),
        ("kind: List\nitems: [{groups: []}]", "an item of the list is not a PrometheusRule"),
        ("groups: []\n---\ngroups: []\n", "x.yml:3:1: Prometheus reads only the first document"),
    ],
)
def test_errors_in_an_object_are_located_in_its_file(text: str, message: str) -> None:
    assert any(message in diagnostic for diagnostic in diagnostics(text)), diagnostics(text)


def test_rules_of_files_with_the_same_name_get_distinct_ids() -> None:
    one = load(rule("alert: A\nexpr: up"), file="a/x.yml", symbols=Symbols(), own=False)
    other = load(rule("alert: A\nexpr: up"), file="b/x.yml", symbols=Symbols(), own=False)

    both = merge([one, other])

    assert [one.id for group in both.groups for one in group.rules] == ["x/g/A", "x/g/A#2"]


def test_rule_ids_are_distinct_for_any_names() -> None:
    names = ["A", "A#2", "A", "A", "A#2"]
    text = "groups:\n- name: g#\n  rules:\n" + "".join(
        f'  - {{alert: "{name}", expr: up}}\n' for name in names
    )

    ids = [one.id for group in groups(text) for one in group.rules]

    assert ids == ["x/g#/A", "x/g#/A#2", "x/g#/A#3", "x/g#/A#4", "x/g#/A#2#2"]


LAUGHS = "a0: &a0 [x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "aliases expand to more than 500000 values"),
        ("[" * 100_000, "nested deeper than 60"),
        ("groups: " + "[" * 61 + "]" * 61, "nested deeper than 60"),
        ("x" * (4 * 1024 * 1024 + 1), "larger than 4 MiB"),
        (rule("alert: A\nexpr: '" + "(" * 100_000 + "'"), "longer than 65536 characters"),
        (rule("alert: A\nexpr: '" + "(" * 30_000 + "'"), "more than 150 brackets deep"),
        (rule("alert: A\nexpr: 1" + "+1" * 20_000), "more than 400 operators"),
        (rule("alert: A\nexpr: up\nlimit: 1" + "0" * 5000), "unknown field `limit`"),
        ("groups:\n- {name: g, limit: 1" + "0" * 5000 + "}\n", "limit must be a whole number"),
        (rule("alert: A\nexpr: up\nfor: " + "9" * 5000 + "s"), "is not a duration"),
        (b"groups:\n- name: \xff\n", "x.yml:2:9: not valid UTF-8"),
        ("groups:\n- name: \udcff\n", "x.yml:2:9: not valid UTF-8"),
        (rule("alert: A\nexpr: up\nlabels: {a: !!binary /w==}"), "not valid base64 of UTF-8 text"),
        ("groups: \x00\n", "not YAML"),
        ("groups: !!python/object:os.system x\n", "`groups` must be a list"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_hostile_file_is_rejected_cheaply(text: str | bytes, message: str) -> None:
    found = diagnostics(text)

    assert len(found) == 1
    assert message in found[0]


def test_diagnostics_beyond_the_limit_are_only_counted() -> None:
    found = diagnostics("groups:\n- name: g\n  rules:\n" + "  - {alert: A}\n" * 600)

    assert len(found) == 501
    assert found[-1] == "x.yml: and 100 more diagnostics"


PIECES = st.sampled_from(
    [
        *(
            "groups",
            "name",
            "rules",
            "alert",
            "record",
            "expr",
            "for",
            "labels",
            "annotations",
            "kind",
            "items",
        ),
        *(
            "logs",
            "check",
            "with",
            "spec",
            "PrometheusRule",
            "List",
            "up",
            "sum(",
            "5m",
            "x",
            "<<",
            "null",
            "~",
        ),
        *(
            ":",
            ": ",
            "- ",
            "\n",
            "\n  ",
            "\n- ",
            "\n    ",
            "{",
            "}",
            "[",
            "]",
            ",",
            "&a ",
            "*a",
            "!!str ",
            "!x ",
        ),
        *("|", ">", '"', "'", "#", "---\n", "\t", "{{ $value }}", "{{ nope }}", "é", "\x00", "\ud800", "%"),
    ]
)


@given(
    st.lists(PIECES, max_size=40).map("".join) | st.text() | st.binary(),
    st.sampled_from(["x.yml", "x.yard.yaml"]),
    st.booleans(),
)
def test_any_text_gives_groups_and_diagnostics(text: str | bytes, file: str, own: bool) -> None:
    loaded = load(text, file=file, symbols=Symbols(), own=own)

    assert all(str(diagnostic).startswith(file) for diagnostic in loaded.diagnostics)


@given(st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=40))
def test_no_alert_loads_without_an_expression(expr: str) -> None:
    text = rule("alert: A\nexpr: " + expr.replace("\n", "\n      "))

    loaded = load(text, file="x.yml", symbols=Symbols(), own=False)

    assert all(getattr(one.query, "expr", "").strip() for group in loaded.groups for one in group.rules)
    assert loaded.diagnostics or loaded.groups
