"""The cases of one rule, run by promtool with that rule alone: as it is, or as changed copies, a file for each copy."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.promtool import run_cases
from tests.support.quick_yaml import from_yaml

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_RESULT = re.compile(r"^Unit Testing: +(\S+)\n +(SUCCESS|FAILED)", re.M)
_LOADING = re.compile(r"parse error|could not parse|yaml:|field \w+ not found")


@cache
def _read(path: Path) -> Any:
    return from_yaml(path.read_text(encoding="utf-8"))


def passing(
    promtool: Path, folder: Path, pack: Path, name: str, copies: Sequence[Mapping[str, str]]
) -> list[bool]:
    """Return, for each copy of the rule, whether all its cases pass. A copy is the fields that differ.

    Raises RuntimeError if promtool cannot read a copy, so that no syntax error passes for a failing case.
    """
    cases = _cases_of(pack, name)
    for number, copy in enumerate(copies):
        (folder / f"{name}-{number}.yaml").write_text(yaml.dump(_rule_file(pack, name, copy), Dumper=_DUMPER))
        mine = {**cases, "rule_files": [f"{name}-{number}.yaml"]}
        (folder / f"{name}-{number}.test.yaml").write_text(yaml.dump(mine, Dumper=_DUMPER))
    files = [f"{name}-{number}.test.yaml" for number in range(len(copies))]
    done = run_cases(promtool, *files, folder=folder, timeout=600)
    results = {file: word == "SUCCESS" for file, word in _RESULT.findall(done.stdout)}
    if set(results) != set(files) or _LOADING.search(done.stdout):
        raise RuntimeError(f"promtool cannot read the copies of {name}: {done.stdout[:2000]}")
    return [results[file] for file in files]


def run_each_rule(promtool: Path, folder: Path, pack: Path) -> subprocess.CompletedProcess[str]:
    """Run all cases of a pack, those of each rule with that rule alone: else every case evaluates the whole pack."""
    cases = _read(pack.with_name(pack.name.removesuffix(".yaml") + ".test.yaml"))
    names = {case["alertname"] for test in cases["tests"] for case in test["alert_rule_test"]}
    for name in names:
        (folder / f"{name}.yaml").write_text(yaml.dump(_rule_file(pack, name, {}), Dumper=_DUMPER))
        mine = {**_cases_of(pack, name), "rule_files": [f"{name}.yaml"]}
        (folder / f"{name}.test.yaml").write_text(yaml.dump(mine, Dumper=_DUMPER))
    return run_cases(promtool, *(f"{name}.test.yaml" for name in sorted(names)), folder=folder)


def _rule_file(pack: Path, name: str, copy: Mapping[str, str]) -> dict[str, Any]:
    for group in _read(pack)["groups"]:
        for rule in group["rules"]:
            if rule.get("alert") == name:
                return {"groups": [{**group, "rules": [{**rule, **copy}]}]}
    raise KeyError(name)


def _cases_of(pack: Path, name: str) -> dict[str, Any]:
    tree: dict[str, Any] = deepcopy(_read(pack.with_name(pack.name.removesuffix(".yaml") + ".test.yaml")))
    for test in tree["tests"]:
        test["alert_rule_test"] = [case for case in test["alert_rule_test"] if case["alertname"] == name]
    tree["tests"] = [test for test in tree["tests"] if test["alert_rule_test"]]
    return tree
