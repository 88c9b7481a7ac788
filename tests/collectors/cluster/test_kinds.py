"""Completeness of the cached kinds. Each test names the kind, and the step that was forgotten."""

from typing import Any

import pytest

from collectors.check_catalogue import CHECKS
from collectors.cluster.indexes import by_owner, kind_in_api
from collectors.cluster.kinds import DEFAULT_KINDS, ResourceKind
from collectors.trainings.catalogue import KINDS
from demo.lookalikes.kubernetes.custom_kinds import kind_of
from demo.lookalikes.kubernetes.kinds import Kinds
from tests.support.custom_kinds import a_definition, is_custom

OWNERS = [kind for kind in DEFAULT_KINDS if by_owner in kind.indexes]
each_kind = pytest.mark.parametrize("kind", DEFAULT_KINDS, ids=lambda kind: kind.name)


def test_no_two_kinds_share_a_name() -> None:
    names = [kind.name for kind in DEFAULT_KINDS]
    assert len(names) == len(set(names))


@each_kind
def test_the_name_is_the_plural_of_the_path(kind: ResourceKind[Any]) -> None:
    plural = kind.path.rpartition("/")[2]
    version = kind.api.partition("/")[2]
    # With its group, where another has the plural already, and with its version, where another has both.
    names = (plural, f"{plural}.{kind.group}", f"{plural}.{version}.{kind.group}")
    assert kind.name.partition("/")[0] in names, f"name {kind.name} as in {kind.path}"


@each_kind
def test_the_type_has_the_kind_of_the_api_with_its_group(kind: ResourceKind[Any]) -> None:
    """Owner references name the kind of the API and its group, and look it up by both."""
    plural = kind.path.rpartition("/")[2]
    assert plural.startswith(kind.kind.lower()), f"rename {kind.type.__name__}, or give it an `api_kind`"
    if any(one.kind_in_keys == kind.kind_in_keys for one in OWNERS):
        expected = kind_in_api(kind.kind, kind.api)
        assert kind.kind_in_keys == expected, f"give {kind.type.__name__} the `api_kind` {expected}"


def test_no_two_kinds_of_workloads_share_a_key() -> None:
    keys = [kind.kind_in_keys for kind in OWNERS]
    assert len(keys) == len(set(keys))


@each_kind
def test_the_lookalike_serves_it(kind: ResourceKind[Any]) -> None:
    served = {one.plural for one in Kinds()}
    if is_custom(kind):  # by its definition
        row = kind_of(a_definition(kind))
        assert row is not None
        served.add(row.plural)
    assert kind.path.rpartition("/")[2] in served, f"add {kind.name} to demo/lookalikes/kubernetes"


def test_what_trainings_and_checks_need_is_cached() -> None:
    cached = {kind.name for kind in DEFAULT_KINDS}
    for training in KINDS:
        missing = {need.name for need in training.needs} - cached
        assert not missing, f"add to collectors/cluster/kinds.py for {training.name}: {missing}"
    for check in CHECKS.values():
        unknown = check.kinds - cached
        assert not unknown, f"add to collectors/cluster/kinds.py for {check.name}: {unknown}"
