"""The chart on a real API server: its schemas, a dry run, and rights that suffice and do not exceed."""

import subprocess
import textwrap
import urllib.error
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.doctor.role_rules import act_rights
from collectors.cluster.kinds import DEFAULT_KINDS, OLDER_DEVICE_TAINT_RULES
from commands.command_catalogue import CATALOGUE
from helm.generate import CHART
from tests.helm.conftest import CI, Render
from tests.helm.schemas import write_schemas
from tests.real.servers.kubernetes import KubernetesCluster
from tests.support.custom_kinds import is_custom
from tests.support.quick_yaml import all_from_yaml

NO_MONITOR = ("--set", "serviceMonitor.enabled=false")  # its CRD comes with the Prometheus operator
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


def _validate(kubeconform: Path, schemas: str, text: str) -> subprocess.CompletedProcess[str]:
    argv = (kubeconform, "-strict", "-summary", "-schema-location", schemas, "-skip", "ServiceMonitor", "-")
    return subprocess.run(argv, input=text, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_every_object_matches_its_schema(
    template: Callable[..., str], kubeconform_path: Path, schemas: str, values: str
) -> None:
    result = _validate(kubeconform_path, schemas, template(values=values))
    assert result.returncode == 0, result.stdout
    assert "Invalid: 0, Errors: 0" in result.stdout


def test_the_schemas_refuse_an_unknown_field(
    template: Callable[..., str], kubeconform_path: Path, schemas: str
) -> None:
    broken = template().replace("readOnlyRootFilesystem", "readOnlyFilesystem")
    result = _validate(kubeconform_path, schemas, broken)
    assert result.returncode == 1
    assert "readOnlyFilesystem" in result.stdout


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_the_api_server_accepts_it_in_a_dry_run(
    template: Callable[..., str], real_kubernetes: KubernetesCluster, namespace: str, values: str
) -> None:
    text = template(*NO_MONITOR, values=values, namespace=namespace)
    lines = real_kubernetes.kubectl(
        "apply", "--dry-run=server", "--validate=strict", "-f", "-", stdin=text
    ).splitlines()
    assert len(lines) == len([thing for thing in all_from_yaml(text) if thing])
    assert all(line.endswith("created (server dry run)") for line in lines), lines


def test_helm_installs_it_in_a_dry_run_with_notes_for_a_test(
    helm_path: Path, real_kubernetes: KubernetesCluster, namespace: str
) -> None:
    options = (
        "--namespace",
        namespace,
        "--kubeconfig",
        real_kubernetes.kubeconfig,
        "--values",
        CI / "full-values.yaml",
    )
    argv = (helm_path, "install", "yard", CHART, "--dry-run=server", *options, *NO_MONITOR)
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    notes = done.stdout.partition("NOTES:")[2]
    assert "Enabled commands: dns scale, node cordon, node uncordon." in notes
    assert f"helm -n {namespace} upgrade yard <this chart>" in notes


def test_the_drill_of_the_notes_adds_a_rule_and_takes_it_away(
    helm_path: Path, real_kubernetes: KubernetesCluster, namespace: str, tmp_path: Path
) -> None:
    env = {
        "KUBECONFIG": str(real_kubernetes.kubeconfig),
        "PATH": f"{Path(helm_path).parent}:/usr/bin:/bin",
        "HOME": str(tmp_path),
    }

    def run(script: str) -> str:
        argv = ("sh", "-euc", script)
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=120, check=False, env=env, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rules() -> list[str]:
        path = f"/api/v1/namespaces/{namespace}/configmaps/drill-yardmaster-rules"
        return list(real_kubernetes.call("GET", path).get("data") or {})

    install = f"helm -n {namespace} install drill {CHART} --values {CI / 'minimal-values.yaml'}"
    notes = run(install).partition("NOTES:")[2].replace("<this chart>", str(CHART))
    try:
        assert rules() == []
        begin = notes.index("cat > drill.yaml")
        run(textwrap.dedent("     " + notes[begin : notes.index("Within a minute")]))
        assert rules() == ["drill.yaml"]
        run(textwrap.dedent(notes.partition("4. Remove the rule.")[2].partition(":")[2]))
        assert rules() == []
    finally:
        run(f"helm -n {namespace} uninstall drill")


@pytest.fixture
def allowed(real_kubernetes: KubernetesCluster, render: Render) -> Iterator[Callable[..., None]]:
    """Grant the chart's roles to the bot of the tests, and remove them at the end."""
    applied: list[str] = []
    _, _, home, account = real_kubernetes.bot_name.split(":")

    def allow(*commands: str) -> None:
        flags = ("--set", f"enabledCommands={{{','.join(commands)}}}") if commands else ()
        things = render("--set", f"serviceAccount.name={account}", *flags, namespace=home)
        spaces = [thing for thing in things if thing["kind"] == "Namespace"]
        if spaces:  # they stay: other tests run Jobs in them
            real_kubernetes.kubectl("apply", "-f", "-", stdin=yaml.dump_all(spaces))
        text = yaml.dump_all(thing for thing in things if "Role" in thing["kind"])
        applied.append(text)
        real_kubernetes.kubectl("apply", "-f", "-", stdin=text)

    def refused() -> bool:
        return not any(_may(real_kubernetes, "", "nodes", verb) for verb in ("list", "patch"))

    real_kubernetes.wait_for("no rights of an earlier test", refused)  # the authorizer follows a moment later
    yield allow
    for text in applied:
        real_kubernetes.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=text)
    real_kubernetes.wait_for("the end of the rights", refused)


def _answer(cluster: KubernetesCluster, method: str, path: str, body: dict[str, Any] | None = None) -> int:
    """The HTTP status that the bot gets."""
    try:
        cluster.call(method, path, body, as_bot=True)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code
    return 200


def test_the_look_role_suffices_for_everything_that_is_cached(
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

    real_kubernetes.wait_for("no rights", lambda: set(answers().values()) == {403})
    allowed()

    def are_allowed() -> bool:
        codes = answers()
        unserved = {kind.name for kind in DEFAULT_KINDS if is_custom(kind)} | {OLDER_DEVICE_TAINT_RULES.name}
        return all(code == 200 or (code == 404 and name in unserved) for name, code in codes.items())

    real_kubernetes.wait_for("the roles to take effect", are_allowed)


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
            "the look role to take effect", lambda: _answer(real_kubernetes, "GET", node) == 200
        )
        assert cordon() == 403
        allowed("node cordon")
        real_kubernetes.wait_for("the act role to take effect", lambda: cordon() == 200)
        assert _answer(real_kubernetes, "DELETE", node) == 403
    finally:
        real_kubernetes.call("DELETE", node)


def test_the_bot_may_delete_only_namespaces_that_it_created(
    real_kubernetes: KubernetesCluster, allowed: Callable[..., None], render: Render
) -> None:
    _, _, home, account = real_kubernetes.bot_name.split(":")
    flags = ("--set", f"serviceAccount.name={account}", "--set", "enabledCommands={training stop}")
    policy = yaml.dump_all(
        thing for thing in render(*flags, namespace=home) if thing["kind"].startswith("ValidatingAdmission")
    )

    def made(name: str, labels: dict[str, str]) -> str:
        metadata = {"name": name, "labels": labels}
        real_kubernetes.call(
            "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
        )
        return f"/api/v1/namespaces/{name}"

    def deleted(path: str) -> int:
        return _answer(real_kubernetes, "DELETE", f"{path}?dryRun=All")

    foreign = made("policy-foreign", {})
    ours = made("policy-ours", {"app.kubernetes.io/managed-by": "yardmaster"})
    try:
        allowed("training stop")
        real_kubernetes.wait_for("the right to delete", lambda: deleted(foreign) == 200)
        real_kubernetes.kubectl("apply", "-f", "-", stdin=policy)
        real_kubernetes.wait_for("the policy to take effect", lambda: deleted(foreign) == 422)
        assert deleted(ours) == 200
    finally:
        real_kubernetes.kubectl("delete", "--ignore-not-found", "-f", "-", stdin=policy)
        for path in (foreign, ours):
            real_kubernetes.call("DELETE", path)


def _may(
    cluster: KubernetesCluster,
    group: str,
    resource: str,
    verb: str,
    namespace: str = "default",
    name: str = "",
) -> bool:
    """Whether the API server allows the bot that verb there."""
    plural, _, subresource = resource.partition("/")
    wish = {
        "group": group,
        "resource": plural,
        "subresource": subresource,
        "verb": verb,
        "namespace": namespace,
        "name": name,
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
            (rule["apiGroups"][0], resource, verb, namespace, name)
            for rights in table.values()
            for namespace, rules in {"default": rights["cluster"], **rights["namespaces"]}.items()
            for rule in rules
            for resource in rule["resources"]
            for verb in rule["verbs"]
            for name in rule.get("resourceNames", [""])
        }
    )
    allowed(*table)
    real_kubernetes.wait_for(
        "every right to take effect", lambda: all(_may(real_kubernetes, *wish) for wish in wishes)
    )
    for group, resource, verb in (
        ("", "nodes", "delete"),
        ("", "secrets", "list"),
        ("", "configmaps", "patch"),
        ("", "pods/attach", "create"),
        ("", "serviceaccounts", "impersonate"),
        ("rbac.authorization.k8s.io", "clusterroles", "patch"),
    ):
        assert not _may(real_kubernetes, group, resource, verb), f"{verb} {resource}"
    for name in ("", "coredns", "aws-auth"):
        assert not _may(real_kubernetes, "", "configmaps", "patch", "kube-system", name)
