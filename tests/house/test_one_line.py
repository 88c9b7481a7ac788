"""Text from outside is one bounded line in every card, preview, reply and answer, whatever door it came through."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect

from alerts.cards.event_words import event_text
from alerts.cards.incident_card import incident_card
from alerts.cards.message import Button, Fields, Message, Paragraph, Preformatted, Table
from alerts.cards.text import bold, code, text
from alerts.incidents.grouping import GroupingContext, open_incident
from alerts.rendering import RuleRenderer
from bot.live_cluster import LiveCluster
from collectors.check_catalogue import CHECKS
from collectors.cluster.decoder import KindDecoder
from collectors.cluster.kinds import ResourceKind
from collectors.cluster.object_store import ObjectStore, Snapshot
from collectors.facts.labels import Labels
from collectors.facts.one_line import MESSAGE, NAME, one_line
from collectors.facts.redaction import Redactor
from collectors.facts.results import Blind, Sample, SourceError
from collectors.facts.topology import Topology
from collectors.trainings.training import OWNER_KEYS, ROLE_KEYS, TEAM_KEYS, TRAINING_KEYS
from commands.command_catalogue import LEXICON
from commands.core.context import Defaults
from commands.core.pipeline import Pipeline
from commands.core.request import Request
from commands.execution.plan import Origin
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings
from tests.support.alerting import a_rule, an_alert
from tests.support.grouping import add_alert
from tests.support.memory_store import MemoryStore
from tests.support.objects import samples_in
from tests.support.shown import HOSTILE, assert_one_line_each
from tests.support.yard import ANA, CLUSTER, DANA, EVERYTHING, NOON, Hands, Yard, a_node_tree, yard_before

LONG = HOSTILE + "A" * 1_000_000
OWN_KEYS = (*TRAINING_KEYS, *ROLE_KEYS, *OWNER_KEYS, *TEAM_KEYS)
LISTS = (
    *("node list", "training list --all", "gpu list", "gpu idle", "dns show", "incident list", "alert list"),
    *("silence list", "audit"),
)


@given(st.text() | st.just(HOSTILE))
def test_every_part_of_a_message_is_one_line(words: str) -> None:
    message = Message(
        title=text(bold(words), code(words), words),
        blocks=(
            Paragraph(text=text(words, "\n", words) if words != "\n" else ()),
            Fields(rows=(("name", text(words if words != "\n" else "")),)),
            Preformatted(lines=(words,)),
            Table(heading=("a",), rows=((words,),)),
        ),
        summary=words,
    )
    if words != "\n":
        assert_one_line_each(message)
    assert "\n" not in Button(label=words, line="help").label


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_a_line_is_within_its_limit(words: str, limit: int) -> None:
    line = one_line(words, limit)
    assert len(line) <= limit
    assert line.isprintable() or all(one.isprintable() or not one.isspace() for one in line)
    assert one_line(line, limit) == line


def test_names_that_differ_in_what_is_invisible_still_differ() -> None:
    assert one_line("gpu\u200ba01", NAME) != "gpua01"


def hostile_value(type_: inspect.Type, value: str) -> Any:
    """Return JSON of this type with the value in every text."""
    match type_:
        case inspect.StructType():
            return {field.encode_name: hostile_value(field.type, value) for field in type_.fields}
        case inspect.DictType(key_type=inspect.StrType()):
            inner = hostile_value(type_.value_type, value)
            return dict.fromkeys((*OWN_KEYS, "nvidia.com/gpu", value[:200]), inner)
        case inspect.CollectionType() | inspect.VarTupleType():
            return [hostile_value(type_.item_type, value)]
        case inspect.UnionType():
            known = [one for one in type_.types if not isinstance(one, inspect.NoneType)]
            numbers = [one for one in known if isinstance(one, inspect.IntType | inspect.FloatType)]
            return hostile_value(numbers[0] if numbers else known[0], value)
        case inspect.StrType():
            return value
        case inspect.BoolType():
            return True
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.DateTimeType():
            return NOON.isoformat()
        case _:
            raise AssertionError(f"no value for {type_}")


@dataclass
class HostileCache:
    """A cluster cache whose every object has the value in every text field, decoded as from an API server."""

    value: str
    version: int = 1
    kinds: tuple[ResourceKind[Any], ...] = ()
    left_out: frozenset[str] = frozenset()

    def snapshot(self, kind: ResourceKind[Any]) -> Snapshot[Any] | Blind:
        tree = hostile_value(inspect.type_info(kind.type), self.value)
        if kind.name in ("nodes", "namespaces"):
            del tree["metadata"]["namespace"]
        body = json.dumps({"metadata": {"resourceVersion": "1"}, "items": [tree]}).encode()
        store = ObjectStore(kind)
        for one in KindDecoder(kind).page(body).objects:
            store.put(one.key, one)
        return store.snapshot(NOON)

    def blind_kinds(self) -> frozenset[str]:
        return frozenset()

    def is_absent(self, kind: ResourceKind[Any]) -> bool:
        return False


@pytest.mark.parametrize("value", [HOSTILE, LONG], ids=["hostile", "a megabyte"])
async def test_no_field_of_a_kubernetes_object_writes_a_line(value: str) -> None:
    cache = HostileCache(value)
    cluster = LiveCluster(CLUSTER, clock=Hands(), cache=cache)  # type: ignore[arg-type]
    pipeline = Pipeline(
        lexicon=LEXICON,
        permissions=EVERYTHING,
        store=MemoryStore(),
        clusters={CLUSTER: cluster},
        writers={},
        clock=Hands(),
        defaults=Defaults(),
        rules=dict,
    )
    for number, line in enumerate(LISTS):
        request = Request(id=f"r{number}", line=line, actor=DANA, at=NOON, origin=Origin(via="slack"))
        answer = await pipeline.handle(request)
        assert answer is not None, line
        assert_one_line_each(answer.message, at_most=9_000)
    inputs = cluster.check_input(NOON, ())
    for check in CHECKS.values():
        for sample in samples_in(check.run(inputs, check.parameters)):
            assert all(one_line(words, MESSAGE * 2) == words for words in sample.texts), check.name
    for training in cluster.trainings():
        assert all(len(words) <= NAME for words in (training.owner, training.team, training.name))


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    """A cluster with hostile text wherever an API server accepts it."""
    clock = Hands()
    words = HOSTILE + "A" * 5_000
    own = dict.fromkeys((*OWN_KEYS, "yardmaster.io/cordon-reason", "yardmaster.io/reason"), words)
    reported = {"reason": words, "message": words, "status": "False", "lastTransitionTime": NOON.isoformat()}
    async with KubernetesLookalike.running(clock=clock.now, settings=Settings(node_grace=None)) as kube:
        node = a_node_tree("gpu-a01")
        node["metadata"]["annotations"] = own
        node["status"]["conditions"] = [{"type": "Ready", **reported}]
        kube.create(node, keep_status=True)
        kube.create(a_node_tree("gpu-a02"), keep_status=True)
        meta = {"name": "vision", "labels": {"training": "vision"}, "annotations": own}
        kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        pod = {
            "metadata": {"annotations": own},
            "spec": {"restartPolicy": "Never", "containers": [CONTAINER]},
        }
        job = {"metadata": {"name": "detr", "namespace": "vision", "annotations": own}}
        kube.create({"apiVersion": "batch/v1", "kind": "Job", **job, "spec": {"template": pod}})
        async with yard_before(kube.kubeconfig(tmp_path / "config"), clock=clock) as yard:
            await yard.seen(lambda: any(view.ranks for view in yard.cluster.trainings()))
            (training,) = yard.cluster.trainings()
            end = {"exitCode": 1, "reason": words, "message": words, "finishedAt": "2026-11-21T12:00:00Z"}
            status = {
                "phase": "Failed",
                "reason": words,
                "message": words,
                "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated": end}}],
            }
            kube.patch("pods", "vision", training.ranks[0].pod, {"status": status}, status=True)
            await yard.seen(lambda: yard.cluster.trainings()[0].first_failure is not None)
            yield yard


CONTAINER = {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "4"}}}


async def test_no_annotation_or_reason_writes_a_line_into_an_answer_or_a_preview(yard: Yard) -> None:
    (training,) = yard.cluster.trainings()
    lines = (
        *(f"training {verb} '{training.id}'" for verb in ("show", "logs", "stop")),
        *("training list --all", "node list", "node show gpu-a01", "node cordon gpu-a01 --reason fan"),
        *("gpu list", "gpu idle", f"gpu free '{training.id}'"),
    )
    for line in lines:
        for actor in (ANA, DANA):
            answer = await yard.answer(line, actor)
            assert answer is not None, line
            assert_one_line_each(answer.message)
    plan = await yard.newest()
    assert plan is not None
    for line in (f"plan show {plan.id}", f"plan cancel {plan.id}", "audit"):
        answer = await yard.answer(line)
        assert answer is not None, line
        assert_one_line_each(answer.message)


@pytest.mark.parametrize("value", [HOSTILE, LONG], ids=["hostile", "a megabyte"])
def test_no_label_writes_a_line_into_a_summary(value: str) -> None:
    renderer = RuleRenderer(lambda: Topology(cluster=CLUSTER), clean=Redactor().clean)
    rule = a_rule(summary="{{ $labels.note }} is hot", description="a\n{{ $labels.note }}")
    sample = Sample(labels=Labels({"note": value}), value=1)
    rendered = renderer.annotations(rule, sample)
    assert rendered["summary"].count("\n") == 0
    assert rendered["description"].count("\n") == 1
    assert max(map(len, rendered.values())) < 600


@pytest.mark.parametrize("value", [HOSTILE, LONG], ids=["hostile", "a megabyte"])
def test_no_error_of_a_source_is_more_than_a_line(value: str) -> None:
    reason = str(SourceError(f"it failed: {value}"))
    assert "\n" not in reason
    assert len(reason) <= MESSAGE


@pytest.mark.parametrize("value", [HOSTILE, LONG], ids=["hostile", "a megabyte"])
def test_nothing_of_an_alert_writes_a_line_into_its_card(value: str) -> None:
    """An alert may also come from the store, or from a sender in the future."""
    alert = an_alert(summary=value, on={"node": value, "gpu": value, "rack": value})
    opened = open_incident("i7", alert, channels=("C1",), now=NOON)
    context = GroupingContext(rules={}, topology=Topology(cluster=CLUSTER))
    incident = add_alert(opened, replace(alert, texts=(value,)), context, NOON)
    assert_one_line_each(incident_card(incident, now=NOON), at_most=9_000)
    replies = tuple(Paragraph(text=event_text(incident, event)) for event in incident.events)
    assert_one_line_each(Message(title=(), blocks=replies), at_most=9_000)
