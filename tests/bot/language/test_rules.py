"""Texts of rules: ours are translated by their template, before and after a restart; others' stay as they are."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from alerts.alert import Alert
from alerts.annotation_template import RULE_CONTEXT, annotation_template
from alerts.cards.headline import headline
from alerts.incidents.incident import Incident
from alerts.incidents.members import member_of, summary_of
from alerts.rendering import RuleRenderer
from alerts.rules import AlertTemplate, Rule
from alerts.store import table_of
from bot.language.message_catalogue import ENGLISH, catalogue
from bot.store.documents import decode, encode
from collectors.facts.labels import Labels
from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Sample
from collectors.facts.sentences import Sentence, holes, in_context
from tests.alerts.packs.test_every_rule import _LABELS, RENDERER, RULES
from tests.bot.language.untranslated import untranslated_rules
from tests.support.alerting import an_alert
from tests.support.incidents import an_open_incident, resolved
from tests.support.rule_templates import forms

CHINESE = catalogue("zh")
HOT = Labels({"gpu": "3", "node": "gpu-a01", "Hostname": "gpu-a01", "pod": "detr-0", "unused": "x" * 500})


def annotations_of(
    texts: Mapping[str, str], labels: Mapping[str, str], value: float = 91
) -> Mapping[str, str]:
    rule = Rule(id="r", name="R", query=PromQLQuery(expr="up"), template=AlertTemplate(annotations=texts))
    return RENDERER.annotations(rule, Sample(labels=Labels(labels), value=value))


def a_hot_gpu(renderer: RuleRenderer = RENDERER) -> Alert:
    rule = RULES["GPUTemperatureHigh"]
    said = renderer.annotations(rule, Sample(labels=HOT, value=91.5))
    return replace(an_alert(on={"node": "gpu-a01", "gpu": "3"}), annotations=said, value=91.5)


def an_incident(alert: Alert) -> Incident:
    incident = an_open_incident(alert)
    member = member_of(alert, RULES["GPUTemperatureHigh"])
    return replace(incident, members=(member,))


def test_chinese_has_what_the_english_has() -> None:
    sample = Sample(labels=Labels(_LABELS), value=1)
    for name, rule in RULES.items():
        for words in RENDERER.annotations(rule, sample).values():
            if isinstance(words, Sentence) and (chinese := CHINESE.say(words)) != ENGLISH.say(words):
                assert holes(words.template) == words.arguments.keys(), name
                assert [one for one in words.arguments.values() if str(one) not in chinese] == [], name


@pytest.mark.parametrize(
    ("name", "value", "english", "chinese"),
    [
        ("KubePodsUnschedulable", 1, "1 pod fits on no node.", "有 1 个 Pod 在任何节点上都放不下。"),
        ("KubePodsUnschedulable", 2, "2 pods fit on no node.", "有 2 个 Pod 在任何节点上都放不下。"),
        ("DNSReplicasLow", 1, "Only 1 replica of the cluster DNS is ready.", "集群 DNS 只有 1 个副本就绪。"),
        (
            "DNSReplicasLow",
            0,
            "Only 0 replicas of the cluster DNS are ready.",
            "集群 DNS 只有 0 个副本就绪。",
        ),
        (
            "NodeOOMKill",
            1.2,
            "The OOM killer on gpu-a01 killed 1 process.",
            "gpu-a01 上的 OOM killer 杀死了 1 个进程。",
        ),
        (
            "RuleMetricsLost",
            1,
            "dcgm-exporter no longer gives metrics that 1 rule needs.",
            "dcgm-exporter 不再提供 1 条规则需要的指标。",
        ),
        ("HDFSDataNodesDead", 1, "1 DataNode of HDFS is dead.", "HDFS 有 1 个 DataNode 失效。"),
        ("HDFSDataNodesDead", 5, "5 DataNodes of HDFS are dead.", "HDFS 有 5 个 DataNode 失效。"),
    ],
)
def test_a_rule_agrees_with_what_it_counts(name: str, value: float, english: str, chinese: str) -> None:
    labels = Labels({"instance": "gpu-a01", "component": "dcgm-exporter"})
    said = RENDERER.annotations(RULES[name], Sample(labels=labels, value=value))["summary"]
    assert (said, CHINESE.say(said)) == (english, chinese)


def test_every_alternative_is_a_sentence_of_its_own() -> None:
    text = (
        "{{ $labels.gpu }}{{ with $labels.node }} on {{ . }}{{ end }}"
        " is {{ if $labels.x }}hot{{ else }}cold{{ end }}."
    )
    assert set(forms(text)) == {
        "{gpu} on {node} is hot.",
        "{gpu} on {node} is cold.",
        "{gpu} is hot.",
        "{gpu} is cold.",
    }
    said = annotation_template(text).render({"gpu": "3"}, 1.0, "")
    assert isinstance(said, Sentence)
    assert (said, said.template, said.arguments) == ("3 is cold.", "{gpu} is cold.", {"gpu": "3"})


def test_two_expressions_have_two_names_and_one_has_one() -> None:
    text = '{{ $value }}, {{ $value | printf "%.0f" }} and {{ $value }} of {{ . }}'
    said = annotation_template(text).render({}, 1.5, "")
    assert isinstance(said, Sentence)
    assert said.template == "{value}, {value2} and {value} of {value3}"
    assert (said.arguments["value"], said.arguments["value2"]) == ("1.5", "2")


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("a `quote", "a `quote"),
        ("{{ range $name, $_ := $labels }}{{ $name }}{{ end }}", "gpunode"),
        ("{{ $labels.gpu.x }}", "<error expanding template: "),
    ],
)
def test_what_is_no_sentence_stays_as_it_is(text: str, english: str) -> None:
    said = annotation_template(text).render({"gpu": "3", "node": "a"}, 1.0, "")
    assert said.startswith(english)
    assert not isinstance(said, Sentence)


def test_a_rule_of_others_stays_as_written() -> None:
    """Even where its words are those of ours, but about something else."""
    (ours,) = forms(RULES["KubeNodeNotReady"].template.annotations["summary"])
    assert ours == "{node} is not ready."
    texts = {
        "summary": "{{ $labels.pod }} is not ready.",
        "description": "{node} is not ready, of {{ $labels.pod }}.",
        "headline": "{node} overheats.",
    }
    said = annotations_of(texts, HOT)
    assert {name: CHINESE.say(words) for name, words in said.items()} == said
    assert said["description"] == "{node} is not ready, of detr-0."


def test_a_label_that_looks_like_a_template_is_only_a_name() -> None:
    said = annotations_of({"summary": "{{ $labels.node }} is not ready."}, {"node": "{gpu}"})
    assert CHINESE.say(said["summary"]) == "{gpu} 未就绪。"


def test_what_is_not_translated_shows_english_and_is_reported() -> None:
    said = annotations_of({"summary": "GPU {{ $labels.gpu }} sings."}, HOT)
    assert CHINESE.say(said["summary"]) == "GPU 3 sings."
    assert untranslated_rules(language="nowhere").keys() > {("reason", "GPU hot")}


def test_a_card_is_chinese_after_a_restart() -> None:
    alerts, incidents = table_of(Alert), table_of(Incident)
    alert = decode(alerts, encode(alerts, a_hot_gpu()))
    assert CHINESE.say(summary_of(alert)) == "gpu-a01 上的 GPU 3 过热：92 °C。"
    incident = decode(incidents, encode(incidents, an_incident(alert)))
    assert CHINESE.say(headline(incident)) == "gpu-a01 过热：GPU 3，最高 92 °C"
    assert CHINESE.say(incident.lead.description).startswith("负载下 55 到 75 °C 属于正常。")
    assert CHINESE.say(headline(resolved(incident))) == "gpu-a01 曾经过热：GPU 3"
    assert headline(incident) == "gpu-a01 is hot: GPU 3, up to 92 °C"


def test_a_row_keeps_only_what_its_sentences_name() -> None:
    plain = replace(a_hot_gpu(), annotations={name: str(it) for name, it in a_hot_gpu().annotations.items()})
    table = table_of(Alert)
    document, before = encode(table, a_hot_gpu()), encode(table, plain)
    assert len(document) - len(before) < 700
    assert "unused" not in json.dumps(json.loads(document)["$sentences"])


def test_a_node_is_called_by_its_name_in_both_languages() -> None:
    alert = replace(
        an_alert(on={"node": "gpu-a01", "instance": "10.0.0.7:9100"}),
        annotations=annotations_of(
            {"summary": "The CPUs of {{ $labels.instance }} are overloaded: {{ $value }}% busy."},
            {"instance": "10.0.0.7:9100"},
            58.26,
        ),
        labels=Labels({"node": "gpu-a01", "instance": "10.0.0.7:9100"}),
    )
    said = summary_of(alert)
    assert (said, isinstance(said, Sentence)) == ("The CPUs of gpu-a01 are overloaded: 58 % busy.", True)


def test_a_reason_that_an_action_gave_is_ours() -> None:
    assert CHINESE.name("GPU hot") == "GPU 过热"


def test_a_fixed_value_of_a_label_is_ours_and_the_same_word_in_another_label_is_not() -> None:
    arguments = {"device": "power", "node": "receive", "direction": "receive"}
    said = in_context(RULE_CONTEXT, "{node} drops packets: {device}, {direction} direction.", arguments)
    assert CHINESE.say(said) == "receive 丢包：power，方向接收。"
