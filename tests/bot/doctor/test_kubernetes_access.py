"""Rights that are missing in Kubernetes, asked of a real API server: each with the line of a role that fixes it."""

from collections.abc import Iterator
from typing import Any

import pytest

from bot.doctor.kubernetes_access import READING, diagnose_kubernetes, needed_rights, of_served
from bot.settings.people_settings import KubernetesIdentity, PersonSettings, TeamSettings
from bot.settings.schema import Settings
from bot.settings.source_settings import KubernetesSettings
from collectors.facts.findings import FindingLevel
from commands.command_catalogue import CATALOGUE
from commands.execution.access import Access
from tests.real.servers.kubernetes import KubernetesCluster

RBAC = "/apis/rbac.authorization.k8s.io/v1"
NAME = "doctor-test"
PATCH_NODES = Access(group="", resource="nodes", verb="patch")
SETTINGS = Settings(teams={"sre": TeamSettings(commands=("node cordon",))})


def rules_of(rights: set[Access]) -> list[dict[str, Any]]:
    return [
        {
            "apiGroups": [one.group],
            "resources": [one.resource],
            "verbs": [one.verb],
            **({"resourceNames": [one.name]} if one.name else {}),
        }
        for one in sorted(rights)
    ]


@pytest.fixture
def grant(real_kubernetes: KubernetesCluster) -> Iterator[Any]:
    """Return a function that gives the bot these rights."""
    _, _, home, account = real_kubernetes.bot_name.split(":")

    def give(rights: set[Access]) -> None:
        role = {"metadata": {"name": NAME}, "rules": rules_of(rights)}
        real_kubernetes.call("POST", f"{RBAC}/clusterroles", role)
        binding = {
            "metadata": {"name": NAME},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "namespace": home, "name": account}],
        }
        real_kubernetes.call("POST", f"{RBAC}/clusterrolebindings", binding)
        last = max(rights)
        real_kubernetes.wait_for("the bot's rights", lambda: allowed(real_kubernetes, last))

    yield give
    for kind in ("clusterrolebindings", "clusterroles"):
        if real_kubernetes.exists(f"{RBAC}/{kind}/{NAME}"):
            real_kubernetes.call("DELETE", f"{RBAC}/{kind}/{NAME}")


def allowed(kubernetes: KubernetesCluster, right: Access) -> bool:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    return bool(kubernetes.call("POST", path, right.review(), as_bot=True)["status"]["allowed"])


async def test_a_verb_that_was_removed_is_named_with_the_line_that_fixes_it(
    real_kubernetes: KubernetesCluster, grant: Any
) -> None:
    kube = KubernetesSettings(kubeconfig=str(real_kubernetes.bot_kubeconfig))
    grant(set(needed_rights(SETTINGS, CATALOGUE)) - {PATCH_NODES})
    found = await diagnose_kubernetes(kube, SETTINGS, CATALOGUE)
    (one,) = [one for one in found if one.level is FindingLevel.BROKEN]
    who = real_kubernetes.bot_name
    assert one.text == f"{who} may not patch nodes, which is needed for node cordon"
    assert one.fix == (
        f'add to a ClusterRole of {who}: {{apiGroups: [""], resources: [nodes], verbs: [patch]}}; '
        "with the chart: enabledCommands: [node cordon]"
    )


async def test_an_account_with_all_rights(real_kubernetes: KubernetesCluster, grant: Any) -> None:
    kube = KubernetesSettings(kubeconfig=str(real_kubernetes.bot_kubeconfig))
    needed = needed_rights(SETTINGS, CATALOGUE)
    grant(set(needed))
    found = await diagnose_kubernetes(kube, SETTINGS, CATALOGUE)
    assert {one.level for one in found} == {FindingLevel.OK}
    assert "it has all rights" in found[-1].text


def test_only_rights_of_permitted_commands_are_needed() -> None:
    reading = needed_rights(Settings(), CATALOGUE)
    assert {user for users in reading.values() for user in users} == {READING}
    assert PATCH_NODES not in reading
    assert needed_rights(SETTINGS, CATALOGUE)[PATCH_NODES] == ["node cordon"]
    everything = needed_rights(Settings(teams={"sre": TeamSettings(commands=("*",))}), CATALOGUE)
    assert set(everything) > set(reading)


def test_where_people_act_themselves_each_of_them_and_their_groups_are_needed() -> None:
    ana = PersonSettings(ids=("slack:U1",), kubernetes=KubernetesIdentity(user="ana@corp", groups=("sre",)))
    settings = SETTINGS.model_copy(update={"people": {"ana": ana}})
    acting = set(needed_rights(settings, CATALOGUE, impersonates=True)) - set(
        needed_rights(settings, CATALOGUE)
    )
    assert acting == {
        Access(group="", resource="users", verb="impersonate", name="ana@corp"),
        Access(group="", resource="groups", verb="impersonate", name="sre"),
    }


def test_a_kind_that_the_cluster_does_not_serve_needs_no_right() -> None:
    jobsets = Access(group="jobset.x-k8s.io", resource="jobsets", verb="list")
    missing = [PATCH_NODES, jobsets]
    assert of_served(missing, {"apps"}) == [PATCH_NODES]
    assert of_served(missing, {"apps", "jobset.x-k8s.io"}) == missing
    assert of_served(missing, None) == missing


async def test_a_kubeconfig_that_is_not_there() -> None:
    (one,) = await diagnose_kubernetes(KubernetesSettings(kubeconfig="/nowhere/config"), SETTINGS, CATALOGUE)
    assert (one.level, one.text) == (FindingLevel.BROKEN, "the kubeconfig /nowhere/config does not exist")
