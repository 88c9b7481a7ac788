"""The neutral grammar is enough for another language: LogQL, by translation alone."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.loading.match_parser import parse_match
from collectors.facts.log_match import AllOf, AnyOf, FieldPhrase, Not
from collectors.facts.patterns import compile_pattern
from collectors.facts.queries import LogQuery
from tests.alerts.packs.shipped import shipped_rules
from tests.collectors.logs.logql import logql

O = r"[^\\pL\\pN_]"  # noqa: E741 (what is no part of a word, as it stands in quotes)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("*", '{job=~".+"}'),
        ("message:NVRM", rf'{{job=~".+"}} |~ "(?i)(^|{O})NVRM({O}|$)"'),
        ('message:"NVRM: Xid"', rf'{{job=~".+"}} |~ "(?i)(^|{O})NVRM{O}+Xid({O}|$)"'),
        (
            'message:"fallen off the bus" AND message:NVRM',
            rf'{{job=~".+"}} |~ "(?i)(^|{O})fallen{O}+off{O}+the{O}+bus({O}|$)" |~ "(?i)(^|{O})NVRM({O}|$)"',
        ),
        (
            'message:"out of memory" AND NOT message:"Memory cgroup"',
            rf'{{job=~".+"}} |~ "(?i)(^|{O})out{O}+of{O}+memory({O}|$)" !~ "(?i)(^|{O})Memory{O}+cgroup({O}|$)"',
        ),
        (
            "message:cuda OR message:OOM",
            rf'{{job=~".+"}} |~ "(?i)((^|{O})cuda({O}|$)|(^|{O})OOM({O}|$))"',
        ),
        ('node:"gpu-a01"', '{job=~".+"} | node="gpu-a01"'),
        (
            'namespace:"kube-system" AND message:udp',
            rf'{{job=~".+"}} |~ "(?i)(^|{O})udp({O}|$)" | namespace="kube-system"',
        ),
        (
            'NOT (pod:"a" OR kubernetes.labels.k8s-app:"dns")',
            '{job=~".+"} | (pod!="a" and kubernetes_labels_k8s_app!="dns")',
        ),
        (
            'message:cuda OR NOT (node:"a" AND message:x)',
            rf'{{job=~".+"}} | label_format message="{{{{__line__}}}}" | (message=~"(?s).*(?i)(^|{O})cuda({O}|$).*" '
            rf'or (node!="a" or message!~"(?s).*(?i)(^|{O})x({O}|$).*"))',
        ),
        (r'pod:"say \"hi\" \\"', r'{job=~".+"} | pod="say \"hi\" \\"'),
    ],
)
def test_a_match_is_translated(match: str, expected: str) -> None:
    assert logql(parse_match(match)) == expected


LOG_RULES = {name: rule.query for name, rule in shipped_rules().items() if isinstance(rule.query, LogQuery)}


@pytest.mark.parametrize("name", LOG_RULES)
def test_every_shipped_search_is_line_filters_that_are_re2(name: str) -> None:
    translated = logql(LOG_RULES[name].match)

    assert "| " not in _without_strings(translated) or "label_format" in translated
    for text in _STRING.findall(translated):
        compile_pattern(text.replace("\\\\", "\\"))


HOSTILE = st.text(alphabet='ab"\\`{}|=~!()\n\tAND失', min_size=1, max_size=20).map(lambda text: f"{text}x")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_PLAIN = re.compile(r"[a-z_{}()|=~! ]*")


def _without_strings(translated: str) -> str:
    return _STRING.sub("", translated)


@given(HOSTILE, HOSTILE)
def test_a_phrase_never_leaves_its_quotes(one: str, other: str) -> None:
    message, pod = FieldPhrase(field="message", text=one), FieldPhrase(field="pod", text=other)
    for match in (message, pod, Not(part=message), AnyOf(parts=(message, pod)), AllOf(parts=(message, pod))):
        left = _without_strings(logql(match))
        assert _PLAIN.fullmatch(left), left


@pytest.mark.parametrize(
    ("phrase", "line", "is_found"),
    [
        ("NVRM: Xid", "kernel: nvrm: xid (PCI:0000:5d:00): 79", True),
        ("NVRM: Xid", "NVRM: Xidless", False),
        ("i/o timeout", "read udp: I/O timeout", True),
        ("conntrack", "nf_conntrack: table full", False),
        ("off the bus", "the bus off", False),
    ],
)
def test_its_expression_finds_whole_words_in_any_case(phrase: str, line: str, is_found: bool) -> None:
    (text,) = _STRING.findall(logql(FieldPhrase(field="message", text=phrase)).removeprefix('{job=~".+"}'))

    assert (compile_pattern(text.replace("\\\\", "\\")).search(line) is not None) == is_found
