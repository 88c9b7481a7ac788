"""The rendered chart: a locked-down pod, settings that load, and exactly the rights expected."""

import re
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alerts.loading import load
from bot.doctor.role_rules import act_rights, look_rights, without_kinds
from bot.evaluation.rulebook import symbols
from bot.settings.loading import read_settings
from collectors.trainings.catalogue import used_kinds
from commands.command_catalogue import CATALOGUE
from commands.core.parsing import parse_line
from helm.generate import CHART
from tests.helm.conftest import CI, RefusedError, Render
from tests.support.quick_yaml import all_from_yaml, from_yaml

One = Callable[..., dict[str, Any]]

DNS_AUTOSCALERS = [
    "coredns-autoscaler",
    "dns-autoscaler",
    "kube-dns-autoscaler",
    "rke2-coredns-rke2-coredns-autoscaler",
]


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


def test_without_enabled_commands_nothing_may_be_changed(render: Render) -> None:
    names = [thing["metadata"]["name"] for thing in render() if thing["kind"] == "ClusterRole"]
    assert names == ["yard-yardmaster-look"]


def test_the_act_role_has_exactly_the_rights_of_the_enabled_commands(one: One) -> None:
    role = one("ClusterRole", "--set", "enabledCommands={node cordon,node uncordon}", name="-act")
    assert role["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]}]


STOP = ("--set", "enabledCommands={training stop}")


def test_who_may_stop_trainings_deletes_only_what_it_created(one: One) -> None:
    policy = one("ValidatingAdmissionPolicy", *STOP)
    (condition,) = policy["spec"]["matchConditions"]
    assert condition["expression"] == (
        "request.userInfo.username == 'system:serviceaccount:ops:yard-yardmaster'"
    )
    binding = one("ValidatingAdmissionPolicyBinding", *STOP)
    assert binding["spec"]["policyName"] == policy["metadata"]["name"]
    rights = one("ClusterRole", *STOP, name="-act")["rules"]
    deletable = {
        name
        for rule in rights
        if rule["apiGroups"] == [""] and "delete" in rule["verbs"]
        for name in rule["resources"]
    }
    (guarded,) = policy["spec"]["matchConstraints"]["resourceRules"]
    assert deletable <= set(guarded["resources"])


@pytest.mark.parametrize(
    "flags",
    [
        (),
        (*STOP, "--set", "rbac.admissionPolicy=false"),
        (*STOP, "--set", "rbac.create=false"),
        (*STOP, "--kube-version", "1.29.4"),
    ],
    ids=["no right to delete", "switched off", "no roles", "too old"],
)
def test_an_admission_policy_is_made_only_where_it_is_of_use(render: Render, flags: tuple[str, ...]) -> None:
    kinds = {thing["kind"] for thing in render(*flags)}
    assert not [kind for kind in kinds if kind.startswith("ValidatingAdmission")]


def test_the_act_role_is_generated_from_the_table(one: One) -> None:
    table = from_yaml((CHART / "files" / "rights.yaml").read_text())["act"]
    for command, rights in table.items():
        flags = ("--set", f"enabledCommands={{{command}}}")
        if rights["cluster"]:
            assert one("ClusterRole", *flags, name="-act")["rules"] == rights["cluster"]
        for namespace, rules in rights["namespaces"].items():
            role = one("Role", *flags, name="-act")
            assert (role["metadata"]["namespace"], role["rules"]) == (namespace, rules)


def test_dns_scale_may_change_nothing_outside_its_namespace(render: Render) -> None:
    things = render("--set", "enabledCommands={dns scale}")
    act = [thing for thing in things if thing["metadata"]["name"].endswith("-act")]
    assert [(thing["kind"], thing["metadata"]["namespace"]) for thing in act] == [
        ("Role", "kube-system"),
        ("RoleBinding", "kube-system"),
    ]


def test_dns_scale_may_change_the_autoscalers_configmaps_only(one: One) -> None:
    (rule,) = [
        rule
        for rule in one("Role", "--set", "enabledCommands={dns scale}", name="-act")["rules"]
        if rule["resources"] == ["configmaps"]
    ]
    assert rule["resourceNames"] == DNS_AUTOSCALERS
    assert rule["verbs"] == ["get", "patch"]


def test_rule_objects_may_be_read_exactly_if_the_settings_ask_for_them(one: One) -> None:
    rule = {
        "apiGroups": ["monitoring.coreos.com"],
        "resources": ["prometheusrules"],
        "verbs": ["get", "list", "watch"],
    }
    assert rule not in one("ClusterRole", name="-look")["rules"]
    assert rule in one("ClusterRole", "--set", "settings.rules.objects=true", name="-look")["rules"]


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


def test_the_look_role_has_exactly_these_rights(one: One) -> None:
    watch = ["get", "list", "watch"]
    volumes = ["persistentvolumeclaims", "persistentvolumes"]
    core = ["events", "namespaces", "nodes", *volumes, "pods", "services"]
    apps = ["daemonsets", "deployments", "replicasets", "statefulsets"]
    rules = one("ClusterRole", name="-look")["rules"]
    assert {"apiGroups": [""], "resources": core, "verbs": watch} in rules
    assert {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]} in rules
    assert {"apiGroups": ["apps"], "resources": apps, "verbs": watch} in rules
    assert {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": watch} in rules
    assert "secrets" not in str(rules)
    assert one("Role")["metadata"]["namespace"] == "kube-system"
    assert one("Role")["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": DNS_AUTOSCALERS, "verbs": watch},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["get", "list"]},
        {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["list"]},
    ]


def test_rbac_create_false_renders_no_role(render: Render) -> None:
    kinds = {thing["kind"] for thing in render("--set", "rbac.create=false")}
    assert not {kind for kind in kinds if "Role" in kind}


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


_REFUSED = [
    pytest.param("replicaCount=2", "at most one replica", id="two replicas"),
    pytest.param("image.repository=", "set the image's repository", id="no image"),
    pytest.param("secret.name=", "name of an existing Secret", id="no secret"),
    pytest.param("http.tokens=[]", "set at least one", id="no token"),
    pytest.param("settings.http.listen=:80", "is set by the chart", id="another port"),
    pytest.param("settings.store.url=x", "is set by the chart", id="another store"),
    pytest.param(
        "enabledCommands={node explode}", "`node explode` is not a command", id="an unknown command"
    ),
]


@pytest.mark.parametrize(("flag", "error"), _REFUSED)
def test_the_templates_refuse_it_when_the_schema_is_skipped(
    template: Callable[..., str], flag: str, error: str
) -> None:
    with pytest.raises(RefusedError, match=error):
        template(*_given(flag), "--skip-schema-validation")


@pytest.mark.parametrize(("flag", "_error"), _REFUSED)
def test_the_schema_refuses_it(template: Callable[..., str], flag: str, _error: str) -> None:
    with pytest.raises(RefusedError, match="don't meet the specifications of the schema"):
        template(*_given(flag))


def _given(flag: str) -> tuple[str, str]:
    return ("--set-json" if flag.endswith("[]") else "--set", flag)


@pytest.mark.parametrize(
    "flag",
    [
        pytest.param("settings.slack.bot_token=xoxb-1", id="Slack's token"),
        pytest.param("settings.clusters[0].elasticsearch.api_key=k", id="a key in a list"),
    ],
)
def test_a_secret_in_the_values_is_refused(template: Callable[..., str], flag: str) -> None:
    with pytest.raises(RefusedError, match="secrets are not allowed in the values") as refused:
        template("--set", flag)
    assert "xoxb-1" not in str(refused.value)


def test_an_unknown_value_is_refused(template: Callable[..., str]) -> None:
    with pytest.raises(RefusedError, match="additional properties 'replicas' not allowed"):
        template("--set", "replicas=1")


@pytest.mark.parametrize(
    ("flag", "expected"),
    [
        pytest.param(
            "settings.slak.channel=C0123", "additional properties 'slak' not allowed", id="a section"
        ),
        pytest.param(
            "settings.clusters[0].prometheus.utl=x", "additional properties 'utl' not allowed", id="a key"
        ),
        pytest.param("settings.timezone=1", "got number, want string", id="a number for a text"),
        pytest.param("settings.rules.interval[0]=5m", "got array, want string", id="a list for a duration"),
        pytest.param(
            "settings.http.listen=x", "additional properties 'http' not allowed", id="the chart's own"
        ),
        pytest.param("settings.timezone=Asia/Shangai", "settings/timezone", id="a time zone"),
        pytest.param("settings.rules.packs[0]=nodes", "settings/rules/packs/0", id="a pack"),
        pytest.param(
            "settings.teams.sre.commands[0]=node corden", "settings/teams/sre/commands/0", id="a verb"
        ),
        pytest.param("settings.teams.sre.commands[0]=nod *", "settings/teams/sre/commands/0", id="a noun"),
        pytest.param(
            "settings.clusters[0].prometheus.url=prometheus:9090",
            "prometheus/url",
            id="an address without http",
        ),
        pytest.param("settings.slack.channel=gpu-alerts", "slack/channel", id="a channel's name for its id"),
        pytest.param("settings.rules.interval=15 seconds", "settings/rules/interval", id="a duration"),
    ],
)
def test_settings_that_the_program_refuses_are_refused(
    template: Callable[..., str], flag: str, expected: str
) -> None:
    with pytest.raises(RefusedError, match=expected):
        template("--set", flag)


def test_a_duration_is_a_setting(template: Callable[..., str]) -> None:
    assert "interval: 5m" in template("--set", "settings.rules.interval=5m")


def test_the_pull_secret_is_the_only_secret_that_may_be_read(render: Render) -> None:
    things = render(
        "--set",
        "enabledCommands={training launch}",
        "--set",
        "settings.commands.pull_secret=ops/registry",
    )
    readers = [
        (thing["metadata"].get("namespace", ""), rule)
        for thing in things
        if thing["kind"] in ("Role", "ClusterRole")
        for rule in thing["rules"]
        if "secrets" in rule["resources"] and set(rule["verbs"]) != {"create"}
    ]
    named = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["registry"], "verbs": ["get"]}
    assert readers == [("ops", named)]


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


def test_impersonation_is_granted_on_exactly_the_listed_people(
    one: One, render: Render, tmp_path: Path
) -> None:
    people = textwrap.dedent(
        """
        settings:
          clusters: [{name: here, impersonate: IMPERSONATE}]
          people:
            ana: {ids: ["slack:U1"], kubernetes: {user: ana@corp, groups: ["gpu admins", sre]}}
            bo: {ids: ["slack:U2"], kubernetes: {user: bo@corp, groups: [sre]}}
            cai: {ids: ["slack:U3"], kubernetes: {groups: [others]}}
            dana: {ids: ["slack:U4"]}
        """
    )
    values = tmp_path / "people.yaml"
    values.write_text(people.replace("IMPERSONATE", "true"), encoding="utf-8")
    role = one("ClusterRole", "--values", str(values), name="-impersonate")
    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["users"],
            "resourceNames": ["ana@corp", "bo@corp"],
            "verbs": ["impersonate"],
        },
        {
            "apiGroups": [""],
            "resources": ["groups"],
            "resourceNames": ["gpu admins", "sre"],
            "verbs": ["impersonate"],
        },
    ]
    values.write_text(people.replace("IMPERSONATE", "false"), encoding="utf-8")
    assert "impersonate" not in str([one for one in render("--values", str(values)) if "Role" in one["kind"]])


_OF_KINDS = {one.group for one in used_kinds(())} | {"bus.volcano.sh"}


def _granted(one: One, name: str, *flags: str) -> set[tuple[str, str]]:
    """Return what a role grants of the groups of kinds of training, as group and resource."""
    rules = one("ClusterRole", *flags, name=name)["rules"]
    return {
        (group, resource)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if group in _OF_KINDS
    }


def test_only_the_kinds_of_training_that_are_used_may_be_read_and_changed(one: One) -> None:
    commands = ("--set", "enabledCommands={training launch,training stop,training suspend,training scale}")
    every = _granted(one, "-look", *commands)
    assert every >= {("kubeflow.org", "mpijobs"), ("ray.io", "rayjobs"), ("batch.volcano.sh", "jobs")}
    assert _granted(one, "-act", *commands) >= {("kubeflow.org", "tfjobs"), ("bus.volcano.sh", "commands")}

    kinds = ("--set", "settings.commands.training_kinds={job,trainjob,mpijobv2}")
    trainer = "trainer.kubeflow.org"
    read = {(trainer, name) for name in ("trainjobs", "trainingruntimes", "clustertrainingruntimes")}
    assert _granted(one, "-look", *commands, *kinds) == read | {
        ("jobset.x-k8s.io", "jobsets"),  # that Trainer makes
        ("kubeflow.org", "mpijobs"),
    }
    assert _granted(one, "-act", *commands, *kinds) == {
        (trainer, "trainjobs"),
        (trainer, "clustertrainingruntimes"),  # that a launch names
        ("kubeflow.org", "mpijobs"),
    }


@pytest.mark.parametrize("kinds", ["", "jobset", "job,pytorchjob", "trainjob"])
def test_the_doctor_asks_for_the_rights_that_the_chart_gives(one: One, kinds: str) -> None:
    commands = ("training launch", "training stop", "gpu release")
    flags = ["--set", f"enabledCommands={{{','.join(commands)}}}"]
    flags += ["--set", f"settings.commands.training_kinds={{{kinds}}}"] if kinds else []
    options = tuple(filter(None, kinds.split(",")))
    look = without_kinds(look_rights(CATALOGUE), options, is_look=True)["cluster"]
    assert one("ClusterRole", *flags, name="-look")["rules"] == look
    act = act_rights(CATALOGUE)
    needed = (without_kinds(act[name], options, is_look=False)["cluster"] for name in commands)
    wished = [rule for rules in needed for rule in rules]
    given = one("ClusterRole", *flags, name="-act")["rules"]
    assert all(rule in wished for rule in given)
    assert all(rule in given for rule in wished)
