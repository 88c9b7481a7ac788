"""Each verb of the generated roles on a real API server: without it just those commands are refused that need it.

Every command is tried with its preview, whose dry run sends each of its writes: with all rights, and without each one.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.doctor.role_rules import Rules, act_rights, look_rights
from commands.command_catalogue import CATALOGUE
from commands.execution.impersonation import accesses_of
from commands.execution.plan import PlanState
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.drained import Kubelets, kubelets, quick
from tests.support.yard import Yard, yard_before

pytestmark = pytest.mark.xdist_group("real_kubernetes")

RBAC = "/apis/rbac.authorization.k8s.io/v1"
NAME, DNS, SPACE = "yard-verbs", "kube-system", "verbs"
ONE, TWO, THREE = "verbs-one", "verbs-two", "verbs-three"
SERVED = (
    "",
    "apps",
    "batch",
    "autoscaling",
    "scheduling.k8s.io",
)  # groups; no custom kinds are installed there
Right = tuple[str, str, str]  # group, resource, verb

LAUNCH = "--image registry.example/train:1 --workers 2 --gpus 1 --ps 1 --service-per-task --node-selector pool=verbs"
NEW = f"training launch verbs-new {LAUNCH}"
LINES: Mapping[str, str] = {  # to the command
    f"node cordon {ONE}": "node cordon",
    f"node drain {TWO}": "node drain",
    f"volume freeze {SPACE}/ckpt --node {TWO}": "volume freeze",
    NEW: "training launch",
    "training stop verbs-old": "training stop",
    "training stop verbs-old --keep-namespace": "training stop",
    "dns scale 3": "dns scale",
}
COMMANDS = frozenset(LINES.values())
# Writes of the table that no line above makes.
NOT_TRIED: Mapping[str, str] = {
    "volume freeze pods/eviction": "what writes to the volume there is held by what made it",
    "statefulsets/scale": "as deployments/scale",
    "statefulsets": "a training of ours has none",
    "horizontalpodautoscalers": "the other owner of the replicas of DNS",
    "configmaps": "the other owner of the replicas of DNS, and a script that was uploaded",
    "secrets": "a pull secret of the settings",
}


def writes(command: str) -> set[Right]:
    """Return what the table says that a command writes."""
    found = act_rights(CATALOGUE)[command]
    rules = [rule for some in (found["cluster"], *found["namespaces"].values()) for rule in some]
    return {
        (rule["apiGroups"][0], resource, verb)
        for rule in rules
        for resource in rule["resources"]
        for verb in rule["verbs"]
        if verb not in ("get", "list", "watch")
    }


@dataclass
class Roles:
    """The generated roles of these commands, bound to the bot of the tests."""

    cluster: KubernetesCluster
    made: list[str] = field(default_factory=list)
    rules: dict[str, Rules] = field(default_factory=dict)  # by namespace, "" for the whole cluster

    def give(self) -> None:
        act = act_rights([one for one in CATALOGUE if one.name in COMMANDS])
        for one in (look_rights(CATALOGUE), *act.values()):
            self.rules.setdefault("", []).extend(one["cluster"])
            for namespace, rules in one["namespaces"].items():
                self.rules.setdefault(namespace, []).extend(rules)
        _, _, home, account = self.cluster.bot_name.split(":")
        bot = {"kind": "ServiceAccount", "namespace": home, "name": account}
        for namespace, rules in self.rules.items():
            kind = "Role" if namespace else "ClusterRole"
            reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": NAME}
            for plural, body in (
                (f"{kind.lower()}s", {"rules": rules}),
                (f"{kind.lower()}bindings", {"roleRef": reference, "subjects": [bot]}),
            ):
                path = f"{_at(namespace)}/{plural}"
                self.cluster.call("POST", path, {"metadata": {"name": NAME}, **body})
                self.made.append(f"{path}/{NAME}")

    def take_away(self) -> None:
        for path in reversed(self.made):
            self.cluster.call("DELETE", path)

    def without(self, right: Right | None) -> None:
        """Take this right away, and give all others; return once the API server goes by that."""
        for namespace, rules in self.rules.items():
            kind = "Role" if namespace else "ClusterRole"
            body = {
                "apiVersion": RBAC.removeprefix("/apis/"),
                "kind": kind,
                "metadata": {"name": NAME},
                "rules": [left for rule in rules for left in _without(rule, right)],
            }
            self.cluster.call("PUT", f"{_at(namespace)}/{kind.lower()}s/{NAME}", body)
        if right is not None:
            self.cluster.wait_for(f"no {right}", lambda: not any(self._answers(right)))

    def all_of(self, rights: set[Right]) -> None:
        self.without(None)
        self.cluster.wait_for("all rights", lambda: all(all(self._answers(right)) for right in rights))

    def _answers(self, right: Right) -> Iterator[bool]:
        """Yield whether the bot has the right now, for each place and name that the roles give it."""
        group, resource, verb = right
        plural, _, part = resource.partition("/")
        for namespace, rules in self.rules.items():
            for rule in rules:
                if (
                    rule["apiGroups"] != [group]
                    or resource not in rule["resources"]
                    or verb not in rule["verbs"]
                ):
                    continue
                wish = {"group": group, "resource": plural, "subresource": part, "verb": verb}
                where = {"namespace": namespace or SPACE, "name": rule.get("resourceNames", [""])[0]}
                review = {
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                    "spec": {"resourceAttributes": {**wish, **where}},
                }
                path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
                yield bool(self.cluster.call("POST", path, review, as_bot=True)["status"]["allowed"])


def _at(namespace: str) -> str:
    return f"{RBAC}/namespaces/{namespace}" if namespace else RBAC


def _without(rule: dict[str, list[str]], right: Right | None) -> Iterator[dict[str, list[str]]]:
    """Yield the rule, which may then be two: what it says of the resource, and of the others."""
    if right is None or rule["apiGroups"] != [right[0]] or right[1] not in rule["resources"]:
        yield rule
        return
    if others := [one for one in rule["resources"] if one != right[1]]:
        yield {**rule, "resources": others}
    if verbs := [one for one in rule["verbs"] if one != right[2]]:
        yield {**rule, "resources": [right[1]], "verbs": verbs}


@pytest.fixture
def roles(real_kubernetes: KubernetesCluster) -> Iterator[Roles]:
    found = Roles(real_kubernetes)
    found.give()
    try:
        yield found
    finally:
        found.take_away()


@pytest.fixture
async def yard(roles: Roles, real_kubernetes: KubernetesCluster) -> AsyncIterator[Yard]:
    """Nodes, writers of a volume, a training, and the DNS of the cluster."""
    async with AsyncExitStack() as stack:
        kube = await stack.enter_async_context(kubelets(real_kubernetes.kubeconfig, SPACE))
        for name in (ONE, TWO):
            await kube.add_node(name)
        await kube.add_open_node(THREE, pool=SPACE, **{"nvidia.com/gpu": "8"})
        made = [f"/api/v1/nodes/{name}" for name in (ONE, TWO, THREE)]
        await kube.add_pod("runs", TWO, owned=True, tolerations=[kube.toleration])
        made += [*await with_writers(kube), f"/api/v1/namespaces/{SPACE}"]
        roles.all_of(set.union(*map(writes, COMMANDS)))
        try:
            async with yard_before(real_kubernetes.bot_kubeconfig, pause=quick) as found:
                launched = await found.do(f"training launch verbs-old {LAUNCH}")
                assert launched.state is PlanState.DONE, launched.error
                made += [f"/api/v1/namespaces/{name}" for name in ("verbs-old", "verbs-new")]
                await found.seen(lambda: len(pods_of(found, SPACE)) == 3)
                await found.seen(
                    lambda: any(one.namespace == "verbs-old" for one in found.cluster.trainings())
                )
                yield found
        finally:
            for path in made:
                with suppress(Exception):
                    await kube.call("DELETE", path)


def pods_of(yard: Yard, namespace: str) -> list[Any]:
    return [one for one in yard.cluster.inventory().pods.values() if one.metadata.namespace == namespace]


async def with_writers(kube: Kubelets) -> list[str]:
    """Create what writes to a claim on a node, and the Deployment of DNS; return what is not in the namespace."""
    claim = {"accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand"}
    claim_spec = {**claim, "resources": {"requests": {"storage": "1Gi"}}}
    await kube.call(
        "POST", kube.path("persistentvolumeclaims"), {"metadata": {"name": "ckpt"}, "spec": claim_spec}
    )
    pod = {
        "nodeSelector": {"kubernetes.io/hostname": TWO},
        "tolerations": [kube.toleration],
        "containers": [{"name": "main", "image": "i"}],
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "ckpt"}}],
    }
    job = {"template": {"spec": {**pod, "restartPolicy": "Never"}}}
    nightly = {"schedule": "@yearly", "jobTemplate": {"spec": job}}

    def deployment(name: str, labels: dict[str, str], spec: dict[str, Any]) -> dict[str, Any]:
        template = {"metadata": {"labels": labels}, "spec": spec}
        body = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
        return {"metadata": {"name": name, "labels": labels}, "spec": body}

    dns = f"/apis/apps/v1/namespaces/{DNS}/deployments"
    plain = {"nodeSelector": {"verbs": "nowhere"}, "containers": pod["containers"]}
    for path, body in (
        (kube.path("deployments", api="/apis/apps/v1"), deployment("samples", {"app": "samples"}, pod)),
        (kube.path("jobs", api="/apis/batch/v1"), {"metadata": {"name": "once"}, "spec": job}),
        (kube.path("cronjobs", api="/apis/batch/v1"), {"metadata": {"name": "nightly"}, "spec": nightly}),
        (dns, deployment("coredns", {"k8s-app": "kube-dns"}, plain)),
    ):
        await kube.call("POST", path, body)
    return [f"{dns}/coredns"]


async def test_without_a_verb_just_the_commands_are_refused_that_need_it(yard: Yard, roles: Roles) -> None:
    needs: dict[str, set[Right]] = {}  # by line
    for line in LINES:
        plan = await yard.plan(line)
        needs[line] = {(one.group, one.resource, one.verb) for one in accesses_of(plan.steps)}
    for command in COMMANDS:
        used = set.union(*(needs[line] for line, of in LINES.items() if of == command))
        assert not used - writes(command), f"{command} writes what the table does not say"
        more = {
            one
            for one in writes(command) - used
            if one[0] in SERVED and NOT_TRIED.keys().isdisjoint((one[1], f"{command} {one[1]}"))
        }
        assert not more, f"the table gives {command} more than its lines write"
    tried = set.union(*needs.values())
    assert len(tried) > 10
    for right in sorted(tried):
        roles.without(right)
        refused = {line for line in LINES if await is_refused(yard, line)}
        assert refused == {line for line, wanted in needs.items() if right in wanted}, right
        roles.all_of({right})


async def is_refused(yard: Yard, line: str) -> bool:
    """Whether Kubernetes refuses a write of the line."""
    shown = await yard.say(line)
    if "[Confirm]" in shown:
        return False
    assert "Kubernetes does not allow" in shown or "forbidden" in shown, shown
    return True
