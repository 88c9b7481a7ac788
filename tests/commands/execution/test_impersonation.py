"""Impersonation: which requests carry the headers of a person, and what is asked of Kubernetes."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from bot.settings.people_settings import KubernetesIdentity
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesError
from commands.execution.access import Access, KubernetesUser
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.impersonation import (
    Impersonation,
    NotListedError,
    accesses_of,
    refused_accesses,
)
from commands.execution.object_refs import ObjectRef
from commands.execution.steps import Create, Evict, Patch

ANA = KubernetesUser(user="ana@corp", groups=("sre", "gpu admins"))
HEADERS = (
    ("Impersonate-User", "ana@corp"),
    ("Impersonate-Group", "sre"),
    ("Impersonate-Group", "gpu admins"),
)
NODE = ObjectRef(api="v1", kind="Node", name="gpu-a01")


class Api(KubernetesClient):
    """Records the requests; it lets nothing be done but what is in `allowed`, and answers with the node."""

    where = "api"

    def __init__(self, *allowed: str) -> None:
        self.allowed = allowed
        self.requests: list[tuple[str, str, tuple[tuple[str, str], ...]]] = []
        self.is_refusing = False

    async def call(self, method: str, path: str, *, headers: Any = (), body: Any = None, **_: Any) -> bytes:
        self.requests.append((method, path.rpartition("/")[2], tuple(headers)))
        if self.is_refusing:
            message = 'nodes "gpu-a01" is forbidden'
            raise KubernetesError("refused", status=403, reason="Forbidden", message=message)
        if path.endswith("reviews"):
            asked = body["spec"]["resourceAttributes"]
            is_allowed = f"{asked['verb']} {asked.get('name', '*')}" in self.allowed
            return json.dumps({"kind": "R", "metadata": {}, "status": {"allowed": is_allowed}}).encode()
        answer = {"kind": "Node", "metadata": {"name": "gpu-a01"}, "spec": {"unschedulable": True}}
        return json.dumps({**answer, "status": "Success"}).encode()


async def test_writes_and_dry_runs_carry_the_headers_and_reads_do_not() -> None:
    api = Api()
    writer = ClusterWriter(api).acting_as(ANA)
    body = {"spec": {"unschedulable": True}}
    await writer.read(NODE)
    await writer.patch(NODE, body, dry_run=True)
    await writer.patch(NODE, body)
    await writer.evict(NODE)
    await writer.delete(NODE, dry_run=True)
    await writer.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-a01"}})
    (read, *writes) = api.requests
    assert read == ("GET", "gpu-a01", ())
    assert [headers for _, _, headers in writes] == [HEADERS] * 5
    api.requests.clear()
    await ClusterWriter(api).patch(NODE, body)
    assert api.requests[0][2] == ()


async def test_a_refusal_of_kubernetes_reads_like_one_of_ours_and_keeps_its_status() -> None:
    api = Api()
    api.is_refusing = True
    with pytest.raises(KubernetesError) as refused:
        await ClusterWriter(api).acting_as(ANA).patch(NODE, {})
    assert str(refused.value) == (
        'Kubernetes does not allow `PATCH /api/v1/nodes/gpu-a01` to ana@corp: nodes "gpu-a01" is forbidden'
    )
    assert (refused.value.status, refused.value.temporary) == (403, False)


def test_the_steps_say_what_is_asked() -> None:
    pod = ObjectRef(api="v1", kind="Pod", name="p", namespace="ml")
    steps = (
        Patch(ref=NODE, description="", body={}),
        Patch(ref=NODE, description="", body={}, subresource="status"),
        Evict(ref=pod, description=""),
        Create(
            description="",
            manifest={
                "apiVersion": "batch/v1",
                "kind": "Job",
                "metadata": {"name": "j", "namespace": "ml"},
            },
        ),
    )
    assert [str(one) for one in accesses_of(steps)] == [
        "patch nodes gpu-a01",
        "patch nodes/status gpu-a01",
        "create pods/eviction p -n ml",
        "create jobs.batch -n ml",
    ]


async def test_names_are_asked_about_only_where_not_all_are_allowed() -> None:
    nodes = [Access(verb="patch", group="", resource="nodes", name=f"gpu-a{n:02}") for n in range(1, 41)]
    api = Api("patch *")
    assert await refused_accesses(nodes, ClusterWriter(api).acting_as(ANA)) == ()
    assert len(api.requests) == 1
    api = Api("patch gpu-a01")
    refused = await refused_accesses(nodes[:2], ClusterWriter(api).acting_as(ANA))
    assert refused == ("Kubernetes does not allow `patch nodes gpu-a02` to ana@corp.",)
    assert await refused_accesses(nodes, ClusterWriter(Api())) == (), "nobody is asked about our own writes"


def test_who_is_not_listed_writes_nothing_and_automation_writes_as_itself() -> None:
    own = ClusterWriter(Api())
    who = Impersonation(clusters={"prod"}, users={"U1": ANA}, person_of=lambda id: {"U9": "U1"}.get(id, id))

    def user(cluster: str, person: str) -> KubernetesUser | None:
        return who.writer_for(own, cluster=cluster, person=person, name="ana").user

    assert user("prod", "U1") == user("prod", "U9") == ANA
    assert user("lab", "U1") is user("lab", "U2") is user("prod", "automation:reclaim") is None
    for stranger in ("U2", "token:ci", ""):
        with pytest.raises(NotListedError, match=r"people: \{ana: \{ids: "):
            user("prod", stranger)


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "ana\r\nImpersonate-Group: system:masters",
        "ana\x00",
        "ana ",
        "\tana",
        "system:masters",
        "a\x85b",
    ],
)
def test_no_name_of_the_settings_can_be_a_header_of_its_own(name: str) -> None:
    for given in ({"user": name}, {"user": "ana", "groups": [name]}):
        with pytest.raises(ValidationError):
            TypeAdapter(KubernetesIdentity).validate_python(given)
