"""The chart's files derived from values.yaml and from the program are up to date."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from bot.doctor.role_rules import Rights, Rules, act_rights, look_rights
from collectors.cluster.kinds import DEFAULT_KINDS
from commands.command_catalogue import CATALOGUE
from commands.core.command import Answer, Command
from commands.core.context import CommandContext
from commands.core.request import Actor
from commands.execution.rights import Right
from docs.stale_files import stale
from helm.generate import CHART, made
from helm.values_file import ValuesError, read_values

ROOT = CHART.parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    actor: Actor | None = None


async def _read(_action: Nothing, _context: CommandContext) -> Answer:
    raise AssertionError("not called")


def _command(*rights: Right) -> Command[Nothing]:
    return Command(noun="pod", verb="peek", summary="", action=Nothing, example="", read=_read, rights=rights)


def rules_at(namespace: str, rights: Rights) -> Rules:
    return rights["namespaces"][namespace] if namespace else rights["cluster"]


def every_rule(rights: Rights) -> Rules:
    return [*rights["cluster"], *(rule for rules in rights["namespaces"].values() for rule in rules)]


def test_no_derived_file_of_the_chart_is_stale() -> None:
    names = [file.name for file in stale(made())]
    assert not names, f"run `python -m helm.generate`: {', '.join(names)}"


def test_the_chart_has_the_version_of_the_program() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert chart["appVersion"] == project["version"]


def test_every_value_has_a_sentence() -> None:
    for value in read_values(CHART / "values.yaml"):
        assert value.sentence.endswith("."), value.path


def test_the_image_holds_every_package() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    dockerfile = (ROOT / "Dockerfile").read_text()
    context = (ROOT / ".dockerignore").read_text().splitlines()
    for package in wheel["packages"]:
        assert f"COPY {package} {package}\n" in dockerfile
        assert f"!{package}" in context


def test_a_value_without_a_schema_note_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("# -- A sentence.\nloose: 1\n")
    with pytest.raises(ValuesError, match="loose has no schema note"):
        read_values(file)


def test_everything_that_is_cached_may_be_read() -> None:
    rights = look_rights(CATALOGUE)
    for kind in DEFAULT_KINDS:
        plural = kind.path.rpartition("/")[2]
        rules = rights["namespaces"]["kube-system"] if kind.params else rights["cluster"]
        rule = next(rule for rule in rules if plural in rule["resources"])
        assert rule["verbs"] == ["get", "list", "watch"]


def test_the_look_role_changes_nothing() -> None:
    rights = look_rights(CATALOGUE)
    assert {verb for rule in every_rule(rights) for verb in rule["verbs"]} == {"get", "list", "watch"}


def test_a_read_command_adds_to_the_look_role() -> None:
    scalers = Right(group="autoscaling", resources=("horizontalpodautoscalers",), verbs=("list",))
    rule = {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["list"]}
    assert rule in look_rights([_command(scalers)])["cluster"]
    assert act_rights([_command(scalers)]) == {}


def test_a_right_for_one_namespace_is_a_rule_there_only() -> None:
    scalers = Right(
        group="autoscaling", resources=("horizontalpodautoscalers",), verbs=("list",), namespace="kube-system"
    )
    rights = look_rights([_command(scalers)])
    rule = {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["list"]}
    assert rule in rights["namespaces"]["kube-system"]
    assert rule not in rights["cluster"]


def test_a_read_command_may_not_declare_a_right_to_write() -> None:
    with pytest.raises(ValueError, match="pod peek only reads, but declares patch"):
        look_rights([_command(Right(group="", resources=("pods",), verbs=("get", "patch")))])


def test_a_command_may_read_what_it_changes_except_secrets_evictions_and_config_maps_of_others() -> None:
    unread = {
        (rule["apiGroups"][0], resource)
        for rights in act_rights(CATALOGUE).values()
        for rule in every_rule(rights)
        for resource in rule["resources"]
        if "get" not in rule["verbs"] and not set(rule["verbs"]) <= {"list", "watch"}
    }
    assert unread == {("", "secrets"), ("", "pods/eviction"), ("", "configmaps")}


def test_config_maps_are_read_and_deleted_by_name_only() -> None:
    rules = [rule for rights in act_rights(CATALOGUE).values() for rule in every_rule(rights)]
    found = [rule for rule in rules if "configmaps" in rule["resources"]]
    assert {name for rule in found for name in rule.get("resourceNames", ())} >= {"training-script"}
    assert all(rule["verbs"] == ["create"] for rule in found if "resourceNames" not in rule)


def test_every_right_of_a_command_is_in_its_rules() -> None:
    table = act_rights(CATALOGUE)
    for command in CATALOGUE:
        if command.read is not None:
            continue
        for right in command.rights:
            for resource in right.resources:
                verbs = {
                    verb
                    for rule in rules_at(right.namespace, table[command.name])
                    if right.group in rule["apiGroups"] and resource in rule["resources"]
                    for verb in rule["verbs"]
                }
                assert verbs >= set(right.verbs), f"{command.name}: {resource}"
