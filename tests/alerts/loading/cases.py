"""Small rule files and whether Prometheus accepts them, which `test_promtool_agrees.py` verifies."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A rule file and whether it is valid. `difference`: why the result intentionally differs from promtool 2.42."""

    name: str
    text: str
    is_valid: bool
    difference: str = ""


def rule(body: str) -> str:
    """Return a file with one rule of these lines."""
    first, *rest = body.strip().splitlines()
    return (
        "\n".join(["groups:", "- name: g", "  rules:", f"  - {first}", *(f"    {line}" for line in rest)])
        + "\n"
    )


def _expr(expr: str) -> str:
    return rule(f"alert: A\nexpr: |\n  {expr}")


def _summary(text: str) -> str:
    quoted = text.replace("'", "''")
    return rule(f"alert: A\nexpr: up\nannotations:\n  summary: '{quoted}'")


VALID = {
    "an empty file": "",
    "only a comment": "# nothing\n",
    "null": "null\n",
    "groups that are null": "groups:\n",
    "no groups": "groups: []\n",
    "a group without rules": "groups:\n- name: g\n",
    "a group whose rules are null": "groups:\n- name: g\n  rules:\n",
    "an alert with all its fields": rule(
        "alert: A\nexpr: up == 0\nfor: 5m\nkeep_firing_for: 1h30m\nlabels: {severity: page}\nannotations: {summary: x}"
    ),
    "a recording rule": rule("record: a:b:c\nexpr: sum(up)\nlabels: {x: y}"),
    "a recording rule with a zero `for`": rule("record: a\nexpr: up\nfor: 0s"),
    "an interval and a limit": "groups:\n- {name: g, interval: 30s, limit: 5, rules: []}\n",
    "a limit in hexadecimal": "groups:\n- {name: g, limit: 0x10, rules: []}\n",
    "a limit with a zero fraction": "groups:\n- {name: g, limit: 5.0, rules: []}\n",
    "a number for a name": rule("alert: 123\nexpr: up"),
    "a boolean for a name": rule("alert: true\nexpr: up"),
    "a YAML 1.1 boolean for a label": rule(
        "alert: A\nexpr: up\nlabels: {a: yes, b: on, c: 1, d: 2021-01-01}"
    ),
    "a null label": rule("alert: A\nexpr: up\nlabels: {a: }"),
    "null labels": rule("alert: A\nexpr: up\nlabels:"),
    "a number for an expression": rule("alert: A\nexpr: 1"),
    "a zero `for`": rule("alert: A\nexpr: up\nfor: 0"),
    "a null `for`": rule("alert: A\nexpr: up\nfor:"),
    "years and weeks": rule("alert: A\nexpr: up\nfor: 1y2w"),
    "an anchor and its alias in labels": rule("alert: A\nexpr: up\nlabels: &l {a: b}\nannotations: *l"),
    "a merge of labels": rule("alert: A\nexpr: up\nlabels: &l {a: b}\nannotations: {<<: *l, c: d}"),
    "JSON": '{"groups": [{"name": "g", "rules": [{"alert": "A", "expr": "up"}]}]}',
    "the same rule twice": (
        "groups:\n- name: g\n  rules:\n  - {alert: A, expr: up}\n  - {alert: A, expr: up}\n"
    ),
    "an escape in a quoted text": rule('alert: "A\\u00e9"\nexpr: up'),
    "a label value from a template": rule('alert: A\nexpr: up\nlabels: {a: "{{ $labels.job | toUpper }}"}'),
    "at and offset": _expr("up offset -5m @ 1600000000"),
    "at the end": _expr("rate(up[5m] @ end())"),
    "a subquery": _expr("max_over_time(rate(up[5m])[1h:1m])"),
    "holt_winters": _expr("holt_winters(up[5m], 0.5, 0.5)"),
    "histogram functions": _expr("histogram_fraction(0, 0.2, rate(x[5m])) > histogram_quantile(0.9, x)"),
    "group and bottomk": _expr("bottomk(3, group by (a) (up)) or stddev(up)"),
    "group_left": _expr("up * on (a) group_left (b) sum by (a) (x)"),
    "atan2 and bool": _expr("up atan2 x >= bool 1"),
    "a comment in an expression": _expr("up # who knows"),
    "a group that is null": "groups:\n-\n",
    "a rule that is null": "groups:\n- name: g\n  rules:\n  -\n",
    "a template with blocks": _summary("{{ range $k, $v := $labels }}{{ $k }}{{ else }}none{{ end }}"),
    "a template with a query": _summary('{{ with query "up" }}{{ . | first | value | humanize }}{{ end }}'),
    "a template with a comment and trims": _summary("a {{- /* note */ -}} b {{- $value -}} c"),
    "a template that defines": _summary('{{ define "x" }}{{ . }}{{ end }}{{ template "x" $value }}'),
    "a template calling printf": _summary('{{ printf "%.2f" $value }} {{ .Labels.a }} {{ $externalURL }}'),
    "a template with a lone brace": _summary("} }} { {a}"),
    "a template with an undefined template": _summary('{{ template "nowhere" }}'),
    "a template that compares incompatible types": _summary("{{ if gt $value 90 }}x{{ end }}"),
    "a recording rule's label with a broken template": rule('record: a\nexpr: up\nlabels: {a: "{{ nope }}"}'),
}

INVALID = {
    "a text alone": "hello\n",
    "a list alone": "- a\n- b\n",
    "an unknown field at the top": "groups: []\nother: 1\n",
    "an unknown field in a group": "groups:\n- {name: g, rulez: []}\n",
    "an unknown field in a rule": rule("alert: A\nexpr: up\nserverity: x"),
    "a log search in a Prometheus file": rule("alert: A\nlogs: {match: 'message:x', over: 5m}"),
    "a check in a Prometheus file": rule("alert: A\ncheck: dns"),
    "groups that are a mapping": "groups: {}\n",
    "groups that are a text": "groups: x\n",
    "rules that are a mapping": "groups:\n- name: g\n  rules: {}\n",
    "a group without a name": "groups:\n- rules: []\n",
    "a group with an empty name": 'groups:\n- name: ""\n  rules: []\n',
    "two groups with the same name": "groups:\n- name: g\n- name: g\n",
    "a rule that is a text": "groups:\n- name: g\n  rules:\n  - up\n",
    "both alert and record": rule("alert: A\nrecord: a\nexpr: up"),
    "neither alert nor record": rule("expr: up"),
    "no expression": rule("alert: A"),
    "an empty expression": rule('alert: A\nexpr: ""'),
    "an expression of spaces": rule('alert: A\nexpr: "  "'),
    "an expression that is a comment": _expr("# up"),
    "a list for an expression": rule("alert: A\nexpr: [up]"),
    "a mapping for an expression": rule("alert: A\nexpr: {a: b}"),
    "a key twice": rule("alert: A\nexpr: up\nexpr: up"),
    "a key twice in labels": rule("alert: A\nexpr: up\nlabels: {a: b, a: c}"),
    "a number for a duration": rule("alert: A\nexpr: up\nfor: 300"),
    "a negative duration": rule("alert: A\nexpr: up\nfor: -5m"),
    "an empty duration": rule('alert: A\nexpr: up\nfor: ""'),
    "a duration in words": rule("alert: A\nexpr: up\nfor: 5 minutes"),
    "units out of order": rule("alert: A\nexpr: up\nfor: 5s1m"),
    "a duration of a thousand years": rule("alert: A\nexpr: up\nfor: 1000y"),
    "a duration that ends with a newline": rule('alert: A\nexpr: up\nfor: "5m\\n"'),
    "a limit in quotes": 'groups:\n- {name: g, limit: "5", rules: []}\n',
    "`for` in a recording rule": rule("record: a\nexpr: up\nfor: 5m"),
    "annotations in a recording rule": rule("record: a\nexpr: up\nannotations: {a: b}"),
    "a recording rule's name with braces": rule("record: 'a{b=\"c\"}'\nexpr: up"),
    "a recording rule's name with a space": rule("record: a b\nexpr: up"),
    "a label with a dash": rule("alert: A\nexpr: up\nlabels: {a-b: c}"),
    "a label named __name__": rule("alert: A\nexpr: up\nlabels: {__name__: c}"),
    "an annotation with a dot": rule("alert: A\nexpr: up\nannotations: {a.b: c}"),
    "a list for a label": rule("alert: A\nexpr: up\nlabels: {a: [b]}"),
    "a list for labels": rule("alert: A\nexpr: up\nlabels: [a]"),
    "a tab before a key": "groups:\n-\tname: g\n\trules: []\n",
    "an alias without an anchor": rule("alert: A\nexpr: *nowhere"),
    "an alias in its own anchor": rule("alert: A\nexpr: up\nlabels: &a {b: *a}"),
    "an unclosed YAML bracket": "groups: [\n",
    "an unclosed YAML quote": 'groups: "\n',
    "an unclosed parenthesis": _expr("sum(up"),
    "one parenthesis too many": _expr("sum(up))"),
    "an unknown function": _expr("summ(up)"),
    "a rate without a range": _expr("rate(up)"),
    "a range without its closing bracket": _expr("rate(up[5m)"),
    "an unknown unit": _expr("rate(up[5x])"),
    "an empty range": _expr("rate(up[0s])"),
    "an aggregation without its number": _expr("topk(up)"),
    "a comparison of two numbers": _expr("1 == 1"),
    "a set operation with a number": _expr("up and 1"),
    "a matcher that matches everything": _expr('{a=~".*"}'),
    "a broken regular expression": _expr('up{a=~"("}'),
    "two expressions": _expr("up up"),
    "an operator at the end": _expr("up >"),
    "a template with an unknown function": _summary("{{ nosuch $value }}"),
    "a template with `tmpl`, which is for consoles": _summary('{{ tmpl "x" . }}'),
    "a template that is not closed": _summary("{{ $value "),
    "a template with one end too many": _summary("{{ end }}"),
    "a template without its end": _summary("{{ if $value }}x"),
    "a template with an unknown variable": _summary("{{ $valu }}"),
    "a template with an empty action": _summary("{{ }}"),
    "a template with an unclosed quote": _summary('{{ "abc }}'),
    "a template with a break outside of range": _summary("{{ break }}"),
    "a template with a bad character": _summary("{{ $labels.a-b }}"),
    "a broken template in a label": rule('alert: A\nexpr: up\nlabels: {a: "{{ nope }}"}'),
}

DIFFERENCES = (
    Case(
        name="an expression that is null",
        text=rule("alert: A\nexpr: null"),
        is_valid=False,
        difference="2.42 parses `null` as a metric; Prometheus 3 reports that there is no expression",
    ),
    Case(
        name="a second document with rules",
        text="groups: []\n---\n" + rule("alert: A\nexpr: up"),
        is_valid=False,
        difference="Prometheus ignores it silently",
    ),
    Case(
        name="query_offset and labels of a group",
        text="groups:\n- {name: g, query_offset: 1m, labels: {a: b}, rules: []}\n",
        is_valid=True,
        difference="fields of Prometheus 3",
    ),
    Case(
        name="an experimental function",
        text=_expr("mad_over_time(up[5m]) > limitk(3, up)"),
        is_valid=True,
        difference="functions of Prometheus 3",
    ),
    Case(
        name="`now` in a template",
        text=_summary("{{ now }}"),
        is_valid=True,
        difference="a function of Prometheus 3",
    ),
)

CASES = (
    *(Case(name=name, text=text, is_valid=True) for name, text in VALID.items()),
    *(Case(name=name, text=text, is_valid=False) for name, text in INVALID.items()),
)
