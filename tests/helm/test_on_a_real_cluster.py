"""This file proves the chart on a real API server: its schemas, a dry run, and rights that are enough and no more."""

import subprocess
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from collectors.cluster.kinds import DEFAULT_KINDS
from commands.command_catalogue import CATALOGUE
from helm.generate import CHART
from helm.rights import act_rights
from tests.helm.conftest import CI, Render
from tests.helm.schemas import write_schemas
from tests.real.servers.kubernetes import KubernetesCluster

NO_MONITOR = ("--set", "serviceMonitor.enabled=false")  # its kind comes with the Prometheus operator
NAMESPACE = "chart-tests"


@pytest.fixture(scope="module")
def schemas(real_kubernetes: KubernetesCluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_schemas(real_kubernetes, tmp_path_factory.mktemp("schemas"))


@pytest.fixture
def namespace(real_kubernetes: KubernetesCluster) -> str:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    if not real_kubernetes.exists(f"/api/v1/namespaces/{NAMESPACE}"):
        real_kubernetes.call("POST", "/api/v1/namespaces", body)
    return NAMESPACE


def _judged(kubeconform: Path, schemas: str, text: str) -> subprocess.CompletedProcess[str]:
    argv = (kubeconform, "-strict", "-summary", "-schema-location", schemas, "-skip", "ServiceMonitor", "-")
    return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_every_object_fits_its_schema(
    template: Callable[..., str], kubeconform_path: Path, schemas: str, values: str
) -> None:
    judged = _judged(kubeconform_path, schemas, template(values=values))
    assert judged.returncode == 0, judged.stdout
    assert "Invalid: 0, Errors: 0" in judged.stdout


def test_the_schemas_refuse_a_field_that_is_not_there(
    template: Callable[..., str], kubeconform_path: Path, schemas: str
) -> None:
    broken = template().replace("readOnlyRootFilesystem", "readOnlyFilesystem")
    judged = _judged(kubeconform_path, schemas, broken)
    assert judged.returncode == 1
    assert "readOnlyFilesystem" in judged.stdout


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_the_api_server_would_take_it(
    template: Callable[..., str], real_kubernetes: KubernetesCluster, namespace: str, values: str
) -> None:
    text = template(*NO_MONITOR, values=values, namespace=namespace)
    said = real_kubernetes.kubectl(
        "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text
    ).splitlines()
    assert len(said) == len([thing for thing in yaml.safe_load_all(text) if thing])
    assert all(line.endswith("created (server dry run)") for line in said), said


def test_helm_would_install_it_and_says_how_to_try_it(
    helm_path: Path, real_kubernetes: KubernetesCluster, namespace: str
) -> None:
    chosen = (
        "--namespace",
        namespace,
        "--kubeconfig",
        real_kubernetes.kubeconfig,
        "--values",
        CI / "full-values.yaml",
    )
    argv = (helm_path, "install", "yard", CHART, "--dry-run=server", *chosen, *NO_MONITOR)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    notes = done.stdout.partition("NOTES:")[2]
    assert "Kubernetes lets it do: dns scale, node cordon, node uncordon." in notes
    assert f"helm -n {namespace} upgrade yard <this chart>" in notes


@pytest.fixture
def allowed(real_kubernetes: KubernetesCluster, render: Render) -> Iterator[Callable[..., None]]:
    """Gives the bot of the tests the chart's roles; they are taken away at the end."""
    applied: list[str] = []
    _, _, home, account = real_kubernetes.bot_name.split(":")

    def allow(*commands: str) -> None:
        flags = ("--set", f"enabledCommands={{{','.join(commands)}}}") if commands else ()
        things = render("--set", f"serviceAccount.name={account}", *flags, namespace=home)
        text = yaml.dump_all(thing for thing in things if "Role" in thing["kind"])
        applied.append(text)
        real_kubernetes.kubectl("apply", "-f", "-", stdin=text)

    yield allow
    for text in applied:
        real_kubernetes.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=text)


def _answer(cluster: KubernetesCluster, method: str, path: str, body: dict[str, Any] | None = None) -> int:
    """The status that the bot gets."""
    try:
        cluster.call(method, path, body, as_bot=True)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code
    return 200


def test_the_reading_role_is_enough_for_all_that_is_cached(
    real_kubernetes: KubernetesCluster, allowed: Callable[..., None]
) -> None:
    def answers() -> dict[str, int]:
        return {
            kind.name: _answer(
                real_kubernetes,
                "GET",
                f"{kind.path}?limit=1&{'&'.join(f'{key}={value}' for key, value in kind.params.items())}",
            )
            for kind in DEFAULT_KINDS
        }

    assert set(answers().values()) == {403}
    allowed()
    real_kubernetes.wait_for("the roles to count", lambda: set(answers().values()) == {200})


def test_the_bot_may_cordon_only_when_the_command_is_enabled(
    real_kubernetes: KubernetesCluster, allowed: Callable[..., None]
) -> None:
    node = "/api/v1/nodes/chart-node"
    real_kubernetes.call(
        "POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "chart-node"}}
    )

    def cordon() -> int:
        return _answer(real_kubernetes, "PATCH", node, {"spec": {"unschedulable": True}})

    try:
        allowed()
        real_kubernetes.wait_for(
            "the role that looks to count", lambda: _answer(real_kubernetes, "GET", node) == 200
        )
        assert cordon() == 403
        allowed("node cordon")
        real_kubernetes.wait_for("the role that acts to count", lambda: cordon() == 200)
        assert _answer(real_kubernetes, "DELETE", node) == 403
    finally:
        real_kubernetes.call("DELETE", node)


def _may(
    cluster: KubernetesCluster, group: str, resource: str, verb: str, namespace: str = "default"
) -> bool:
    """Whether the API server would let the bot do that there."""
    plural, _, subresource = resource.partition("/")
    wish = {
        "group": group,
        "resource": plural,
        "subresource": subresource,
        "verb": verb,
        "namespace": namespace,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wish},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    allowed: bool = cluster.call("POST", path, review, as_bot=True)["status"]["allowed"]
    return allowed


def test_the_enabled_commands_are_allowed_what_they_need_and_no_more(
    real_kubernetes: KubernetesCluster, allowed: Callable[..., None]
) -> None:
    table = act_rights(CATALOGUE)
    wishes = sorted(
        {
            (rule["apiGroups"][0], resource, verb, place)
            for rights in table.values()
            for place, rules in {"default": rights["cluster"], **rights["namespaces"]}.items()
            for rule in rules
            for resource in rule["resources"]
            for verb in rule["verbs"]
        }
    )
    allowed(*table)
    real_kubernetes.wait_for(
        "every right to count", lambda: all(_may(real_kubernetes, *wish) for wish in wishes)
    )
    for group, resource, verb in (
        ("", "nodes", "delete"),
        ("", "secrets", "list"),
        ("", "configmaps", "patch"),
        ("", "pods/exec", "create"),
        ("", "serviceaccounts", "impersonate"),
        ("rbac.authorization.k8s.io", "clusterroles", "patch"),
    ):
        assert not _may(real_kubernetes, group, resource, verb), f"{verb} {resource}"
