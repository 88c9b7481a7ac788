"""A team that is bound to namespaces silences and acknowledges alerts of these only."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from alerts.incidents.incident import Incident, Member
from alerts.lifecycle import AlertState
from alerts.rules import Severity
from alerts.silences import Silence
from collectors.facts.subjects import Subject
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.models import AuditEntry
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import ANA, CLUSTER, DANA, NOON, Yard, yard_before

PERMISSIONS = Permissions(
    teams={
        "sre": Grant(commands=("*",)),
        "vision": Grant(commands=("silence *", "alert *"), namespaces=("vision-*", "shared")),
    },
    automation={},
)


def an_incident(subject: Subject) -> Incident:
    member = Member(
        alert="a1",
        rule="r",
        name="Broken",
        summary="It is broken",
        severity=Severity.WARNING,
        since=NOON,
        state=AlertState.FIRING,
    )
    return Incident(
        id="i1",
        cluster=CLUSTER,
        group_key="x",
        subject=subject,
        opened_at=NOON,
        severity=Severity.WARNING,
        members=(member,),
    )


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with (
        KubernetesLookalike.running(controllers=False) as kube,
        yard_before(kube.kubeconfig(tmp_path / "kubeconfig"), permissions=PERMISSIONS) as yard,
    ):
        yield yard


@pytest.mark.parametrize(
    "matchers",
    [
        'severity=~".+"',
        "alertname=GPUTemperatureHigh",
        'namespace=~".+"',
        'namespace=~"vision-.*|speech"',
        'namespace=~"vision.*"',
        'namespace=~"(vision-a)"',
        'alertname=Hot,namespace=~"vision-a|"',
        'alertname=Hot,namespace!="speech"',
        'alertname=Hot,namespace!~"speech-.*"',
        "namespace=speech",
        'exported_namespace=~"vision-.*"',
        'namespace=~"vision.+"',
    ],
)
async def test_a_silence_that_reaches_beyond_the_namespaces_is_refused_with_what_to_add(
    yard: Yard, matchers: str
) -> None:
    reply = await yard.say(f"silence add '{matchers}' --for 30d --reason quiet", ANA)
    assert 'namespace=~"vision-.*|shared"' in reply
    async with yard.store.unit() as unit:
        assert await unit.rows(Silence).find() == []
        assert [entry.what for entry in await unit.rows(AuditEntry).find() if entry.what == "refused"] == [
            "refused"
        ]


@pytest.mark.parametrize(
    "matchers",
    [
        'namespace=~"vision-.*|shared"',
        "namespace=vision-a",
        'namespace=~"vision-a|vision-b.+"',
        'severity=~".+",namespace=shared',
    ],
)
async def test_a_silence_within_the_namespaces_is_added(yard: Yard, matchers: str) -> None:
    assert "matches no firing alerts" in await yard.say(
        f"silence add '{matchers}' --for 1h --reason quiet", ANA
    )


async def test_a_team_with_all_namespaces_silences_what_it_wants_and_others_cannot_expire_it(
    yard: Yard,
) -> None:
    assert "Silence s1" in await yard.say("silence add 'severity=~\".+\"' --for 1h --reason quiet", DANA)
    assert "your team's namespaces" in await yard.say("silence expire s1", ANA)
    async with yard.store.unit() as unit:
        (silence,) = await unit.rows(Silence).find()
    assert silence.expired_at is None
    assert "expired" in await yard.say("silence expire s1", DANA)


@pytest.mark.parametrize(
    ("subject", "is_allowed"),
    [
        pytest.param(Subject(namespace="vision-a", pod="p"), True, id="a pod of theirs"),
        pytest.param(Subject(training="vision-a/detr"), True, id="a training of theirs"),
        pytest.param(Subject(namespace="speech"), False, id="another namespace"),
        pytest.param(Subject(node="gpu-a01"), False, id="a node"),
    ],
)
async def test_an_incident_is_acknowledged_by_those_whose_namespace_it_is_in(
    yard: Yard, subject: Subject, is_allowed: bool
) -> None:
    async with yard.store.unit() as unit:
        await unit.rows(Incident).put(an_incident(subject))
    reply = await yard.say("alert ack i1", ANA)
    async with yard.store.unit() as unit:
        incident = await unit.rows(Incident).get("i1")
    assert incident is not None
    assert (incident.acknowledged_by == ANA.id) is is_allowed, reply
    if not is_allowed:
        assert "namespace" in reply
        await yard.say("alert ack i1", DANA)
        async with yard.store.unit() as unit:
            incident = await unit.rows(Incident).get("i1")
        assert incident is not None
        assert incident.acknowledged_by == DANA.id
