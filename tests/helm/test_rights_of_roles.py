"""Roles of the rendered chart: exactly the rights of the enabled commands and of the settings."""

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bot.doctor.role_rules import act_rights, look_rights, without_kinds
from collectors.trainings.catalogue import used_kinds
from commands.command_catalogue import CATALOGUE
from helm.generate import CHART
from tests.helm.conftest import Render
from tests.support.quick_yaml import from_yaml

One = Callable[..., dict[str, Any]]


DNS_AUTOSCALERS = [
    "coredns-autoscaler",
    "dns-autoscaler",
    "kube-dns-autoscaler",
    "rke2-coredns-rke2-coredns-autoscaler",
]


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
