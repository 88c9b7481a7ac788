"""The rendered chart: a locked-down pod, settings that load, and exactly the rights expected."""

import re
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alerts.loading import load
from bot.evaluation.rulebook import symbols
from bot.settings.loading import read_settings
from commands.command_catalogue import CATALOGUE
from commands.core.parsing import parse_line
from helm.generate import CHART
from tests.helm.conftest import CI, Render
from tests.support.quick_yaml import all_from_yaml

One = Callable[..., dict[str, Any]]


def _pod(deployment: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    return pod


def _settings(one: One, tmp_path: Path, *flags: str, values: str) -> Any:
    file = tmp_path / "settings.yaml"
    text = one("ConfigMap", *flags, values=values, name="-settings")["data"]["settings.yaml"]
    file.write_text(text)
    return read_settings(file)


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_the_rendered_settings_load(one: One, tmp_path: Path, values: str) -> None:
    settings = _settings(one, tmp_path, values=values)
    assert settings.http.listen == "0.0.0.0:9099"
    assert settings.store.url == "sqlite+aiosqlite:////var/lib/yardmaster/yard.db"


def test_tokens_and_rule_files_are_read_from_their_mounts(one: One, tmp_path: Path) -> None:
    settings = _settings(one, tmp_path, values="full")
    mounts = {mount["name"]: mount["mountPath"] for mount in _container(one)["volumeMounts"]}
    files = [str(token.token_file) for token in settings.http.auth.tokens]
    assert files == [f"{mounts['secrets']}/http-token", f"{mounts['secrets']}/sender-token"]
    assert [str(file) for file in settings.rules.files] == [f"{mounts['rules']}/site.yaml"]
    assert settings.rules.packs == ("gpu", "node", "dns", "self")


def _container(one: One) -> dict[str, Any]:
    container: dict[str, Any] = _pod(one("Deployment", values="full"))["containers"][0]
    return container


def test_the_pod_has_no_more_privileges_than_it_needs(one: One) -> None:
    pod = _pod(one("Deployment"))
    security = pod["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = [mount["name"] for mount in pod["containers"][0]["volumeMounts"] if not mount.get("readOnly")]
    assert writable == ["store", "tmp"]


def test_the_probes_use_the_paths_of_the_server(one: One) -> None:
    container = _container(one)
    probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert probes == {
        "startup": {"path": "/healthz", "port": "http"},
        "liveness": {"path": "/healthz", "port": "http"},
        "readiness": {"path": "/readyz", "port": "http"},
    }


def test_the_store_has_one_writer(one: One) -> None:
    spec = one("Deployment")["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    assert one("PersistentVolumeClaim")["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


@pytest.mark.parametrize(
    ("flag", "annotation"),
    [
        pytest.param("settings.timezone=Asia/Shanghai", "checksum/config", id="settings"),
        pytest.param("rules.more\\.yaml=groups: []", "checksum/rules", id="rules"),
    ],
)
def test_a_change_restarts_the_pod(one: One, flag: str, annotation: str) -> None:
    before, after = (
        one("Deployment", *flags)["spec"]["template"]["metadata"]["annotations"][annotation]
        for flags in ((), ("--set-string", flag))
    )
    assert before != after


@pytest.mark.parametrize("name", ["y", "n", "1", "1e3"])
def test_names_that_yaml_reads_as_something_else_stay_text(template: Callable[..., str], name: str) -> None:
    text = template(values="full", namespace=name, release=name)
    assert not re.search(
        rf"(instance|namespace): {name}[,}}\s]", text
    )  # PyYAML reads y as text, the API server as a boolean
    for thing in all_from_yaml(text):
        meta = thing["metadata"]
        assert meta["labels"]["app.kubernetes.io/instance"] == name
        assert meta.get("namespace", name) in (name, "kube-system")
        for subject in thing.get("subjects", ()):
            assert subject["namespace"] == name


def test_an_empty_rule_file_is_left_out(one: One, tmp_path: Path) -> None:
    flags = ("--set-string", "rules.site\\.yaml=", "--set-string", "rules.more\\.yaml=groups: []")
    assert list(one("ConfigMap", *flags, values="full", name="-rules")["data"]) == ["more.yaml"]
    settings = _settings(one, tmp_path, *flags, values="full")
    assert [file.name for file in settings.rules.files] == ["more.yaml"]


def test_the_network_policy_names_five_destinations(one: One) -> None:
    spec = one("NetworkPolicy")["spec"]
    ports = [sorted({port["port"] for port in rule["ports"]}) for rule in spec["egress"]]
    assert ports == [[53], [443, 6443], [9090], [9200], [443]]
    assert spec["policyTypes"] == ["Ingress", "Egress"]


def test_the_network_policy_lets_webhooks_go_where_the_values_say(render: Render) -> None:
    more = ("--set", "networkPolicy.destinations.webhooks.ports[0].port=8080")
    policy = next(thing for thing in render(*more) if thing["kind"] == "NetworkPolicy")
    assert policy["spec"]["egress"][-1] == {"ports": [{"port": 8080}]}


def test_an_existing_claim_is_used(render: Render) -> None:
    things = render("--set", "persistence.existingClaim=old")
    assert "PersistentVolumeClaim" not in [thing["kind"] for thing in things]
    pod = _pod(next(thing for thing in things if thing["kind"] == "Deployment"))
    store = next(volume for volume in pod["volumes"] if volume["name"] == "store")
    assert store["persistentVolumeClaim"] == {"claimName": "old"}


@pytest.mark.parametrize("values", ["minimal", "full"])
def test_helm_lint_passes(helm_path: Path, values: str) -> None:
    argv = (helm_path, "lint", "--strict", CHART, "--values", CI / f"{values}-values.yaml")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_the_drill_in_the_notes_is_a_rule_file() -> None:
    notes = (CHART / "templates" / "NOTES.txt").read_text()
    drill = notes.partition("<<'DRILL'\n")[2].partition("DRILL\n")[0]
    loaded = load(textwrap.dedent(drill), file="drill.yaml", symbols=symbols(), own=False)
    assert loaded.diagnostics == ()
    assert [rule.name for group in loaded.groups for rule in group.rules] == ["Drill"]


def test_the_line_in_the_notes_is_a_command() -> None:
    notes = (CHART / "templates" / "NOTES.txt").read_text()
    lines = re.findall(r"`/yard ([^`]+)`", notes)
    assert [parse_line(line, CATALOGUE)[0].name for line in lines] == ["incident list"]


def test_a_duration_is_a_setting(template: Callable[..., str]) -> None:
    assert "interval: 5m" in template("--set", "settings.rules.interval=5m")


@pytest.mark.parametrize(
    "flag",
    [
        "settings.timezone=Asia/Shanghai",
        "settings.rules.packs={gpu,node}",
        "settings.teams.sre.commands={*,node *,node c*,dns scale}",
        "settings.clusters[0].prometheus.url=https://user@prometheus.example:9090/prod",
        "settings.rules.interval=1m30s",
    ],
)
def test_settings_that_the_program_takes_pass_the_schema(one: One, tmp_path: Path, flag: str) -> None:
    assert _settings(one, tmp_path, "--set", flag, values="full")
