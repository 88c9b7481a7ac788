"""Three people with different rights on a real API server: Kubernetes' verdict is what happens, at each moment."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from bot.doctor.role_rules import act_rights, look_rights
from collectors.facts.results import SourceError
from commands.command_catalogue import CATALOGUE
from commands.core.grant import Grant
from commands.core.permissions import Permissions
from commands.core.request import Actor, ActorKind
from commands.execution.access import KubernetesUser
from commands.execution.impersonation import Impersonation
from commands.execution.object_refs import ObjectRef
from commands.execution.plan import PlanState
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.yard import CLUSTER, Yard, yard_before

pytestmark = pytest.mark.xdist_group("real_kubernetes")

ONE, TWO = "rights-one", "rights-two"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
ANA, BO, CAI, DANA = (
    Actor(id=f"U_{name.upper()}", name=name, teams=frozenset({"sre"}))
    for name in ("ana", "bo", "cai", "dana")
)
NIGHTLY = Actor(id="nightly", name="nightly", kind=ActorKind.AUTOMATION, person="automation:nightly")
USERS = {
    ANA.person: KubernetesUser(user="ana@corp", groups=("gpu admins",)),
    BO.person: KubernetesUser(user="bo@corp"),
    CAI.person: KubernetesUser(user="cai@corp"),
}
PERMISSIONS = Permissions(
    teams={"sre": Grant(commands=("*",))}, automation={"nightly": Grant(commands=("node cordon",))}
)
PATCH = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["patch"]}


class Roles:
    """Cluster roles of the test, by name, each bound to its subjects."""

    def __init__(self, cluster: KubernetesCluster) -> None:
        self.cluster = cluster
        self.names: set[str] = set()

    def give(self, name: str, rules: list[dict[str, Any]], subject: dict[str, str]) -> None:
        self.cluster.call("POST", f"{RBAC}/clusterroles", {"metadata": {"name": name}, "rules": rules})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        body = {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
        self.cluster.call("POST", f"{RBAC}/clusterrolebindings", body)
        self.names.add(name)

    def take(self, name: str) -> None:
        for kind in ("clusterrolebindings", "clusterroles"):
            self.cluster.call("DELETE", f"{RBAC}/{kind}/{name}")
        self.names.discard(name)

    def may_patch(self, user: KubernetesUser, node: str) -> bool:
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.user,
                "groups": list(user.groups),
                "resourceAttributes": {"verb": "patch", "resource": "nodes", "name": node},
            },
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        return bool(self.cluster.call("POST", path, body)["status"]["allowed"])


def a_user(name: str, kind: str = "User") -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}


def impersonating(users: list[str], groups: list[str]) -> list[dict[str, Any]]:
    """Return the rules that the chart grants."""
    return [
        {"apiGroups": [""], "resources": [kind], "resourceNames": names, "verbs": ["impersonate"]}
        for kind, names in (("users", users), ("groups", groups))
    ]


@pytest.fixture
def roles(real_kubernetes: KubernetesCluster) -> Iterator[Roles]:
    roles = Roles(real_kubernetes)
    for node in (ONE, TWO):
        real_kubernetes.create_ready_node(node)
    _, _, home, account = real_kubernetes.bot_name.split(":")
    bot = {"kind": "ServiceAccount", "namespace": home, "name": account}
    act = act_rights([one for one in CATALOGUE if one.name in ("node cordon", "node uncordon")])
    rules = [rule for one in (look_rights(CATALOGUE), *act.values()) for rule in one["cluster"]]
    roles.give(
        "yard-bot", [*rules, *impersonating([one.user for one in USERS.values()], ["gpu admins"])], bot
    )
    roles.give("yard-admins", [PATCH], a_user("gpu admins", "Group"))
    roles.give("yard-cai", [{**PATCH, "resourceNames": [ONE]}], a_user("cai@corp"))
    try:
        real_kubernetes.wait_for("the roles", lambda: roles.may_patch(USERS[CAI.person], ONE))
        yield roles
    finally:
        for name in tuple(roles.names):
            roles.take(name)
        for node in (ONE, TWO):
            real_kubernetes.call("DELETE", f"/api/v1/nodes/{node}")


@pytest.fixture
async def yard(roles: Roles, real_kubernetes: KubernetesCluster) -> AsyncIterator[Yard]:
    impersonation = Impersonation(clusters={CLUSTER}, users=USERS)
    async with yard_before(
        real_kubernetes.bot_kubeconfig, permissions=PERMISSIONS, impersonation=impersonation
    ) as made:
        yield made


def is_cordoned(cluster: KubernetesCluster, node: str) -> bool:
    return bool(cluster.call("GET", f"/api/v1/nodes/{node}")["spec"].get("unschedulable"))


async def test_the_verdict_of_kubernetes_is_what_happens(
    yard: Yard, roles: Roles, real_kubernetes: KubernetesCluster
) -> None:
    # In the preview.
    refused = await yard.say(f"node cordon {ONE} --reason fan", BO)
    assert f"Kubernetes does not allow patch nodes {ONE} to bo@corp." in refused
    assert f"patch nodes {TWO} to cai@corp" in await yard.say(f"node cordon {ONE} {TWO} --reason fan", CAI)
    unlisted = await yard.say(f"node cordon {ONE} --reason fan", DANA)
    assert "add people: {dana: {ids: [U_DANA], kubernetes: {user: …}}}" in unlisted
    assert await yard.newest() is None

    # By name, and by group. An undo is made with the rights of who undoes.
    done = await yard.do(f"node cordon {ONE} --reason fan", CAI)
    assert done.state is PlanState.DONE, done.error
    assert is_cordoned(real_kubernetes, ONE)
    assert "to bo@corp" in await yard.say(f"plan undo {done.id}", BO)
    undone = await yard.do(f"plan undo {done.id}", ANA)
    assert undone.state is PlanState.DONE, undone.error
    assert not is_cordoned(real_kubernetes, ONE)

    # Automation acts as Yardmaster itself.
    await yard.say(f"node cordon {TWO} --reason fan", NIGHTLY)
    by_itself = await yard.newest()
    assert by_itself is not None
    assert (await yard.executor.execute(by_itself)).state is PlanState.DONE
    real_kubernetes.call("PATCH", f"/api/v1/nodes/{TWO}", {"spec": {"unschedulable": False}})
    await yard.seen(lambda: not yard.cluster.inventory().nodes[TWO].spec.unschedulable)

    # Who confirms needs the right too.
    plan = await yard.plan(f"node cordon {ONE} --reason fan", CAI)
    assert "to bo@corp" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", BO)

    # A right that is taken away after the preview, and after the confirmation.
    confirmed = await yard.confirmed(await yard.plan(f"node cordon {ONE} --reason fan", CAI), CAI)
    plan = await yard.plan(f"node cordon {ONE} --reason heat", CAI)
    roles.take("yard-cai")
    real_kubernetes.wait_for("the right to be gone", lambda: not roles.may_patch(USERS[CAI.person], ONE))
    assert "to cai@corp" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", CAI)
    assert "to cai@corp" in await yard.say(f"plan confirm {plan.id} --hash {plan.hash}", ANA), (
        "the asker's counts"
    )
    failed = await yard.executor.execute(confirmed)
    assert failed.state is PlanState.FAILED
    assert f"Kubernetes does not allow `PATCH /api/v1/nodes/{ONE}` to cai@corp" in failed.error
    assert not is_cordoned(real_kubernetes, ONE)


@pytest.mark.parametrize(
    "user",
    [
        KubernetesUser(user="eve@corp"),
        KubernetesUser(user="ana@corp", groups=("system:masters",)),
        KubernetesUser(user="system:admin"),
    ],
    ids=lambda one: one.user,
)
async def test_nobody_but_the_listed_can_be_impersonated(yard: Yard, user: KubernetesUser) -> None:
    ref = ObjectRef(api="v1", kind="Node", name=ONE)
    with pytest.raises(SourceError, match=r"cannot impersonate resource") as refused:
        await yard.writer.acting_as(user).patch(ref, {"spec": {"unschedulable": True}}, dry_run=True)
    assert refused.value.status == 403
