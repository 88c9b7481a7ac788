"""What a cached kind needs besides its entry. Each test names the kind, and the step that was forgotten."""

from typing import Any

import pytest

from collectors.checks.catalogue import CHECKS
from collectors.cluster import kinds
from collectors.cluster.kinds import DEFAULT_KINDS, ResourceKind
from collectors.trainings.catalogue import KINDS
from demo.lookalikes.kubernetes.custom_kinds import kind_of
from demo.lookalikes.kubernetes.kinds import Kinds
from tests.support.custom_kinds import a_definition, is_custom

each_kind = pytest.mark.parametrize("kind", DEFAULT_KINDS, ids=lambda kind: kind.name)


def test_every_kind_of_the_file_is_cached() -> None:
    declared = {name: one for name, one in vars(kinds).items() if isinstance(one, ResourceKind)}
    forgotten = [name for name, one in declared.items() if one not in DEFAULT_KINDS]
    assert not forgotten, f"wrap in _cache(…): {', '.join(forgotten)}"


def test_no_two_kinds_share_a_name() -> None:
    names = [kind.name for kind in DEFAULT_KINDS]
    assert len(names) == len(set(names))


@each_kind
def test_the_name_is_the_plural_of_the_path(kind: ResourceKind[Any]) -> None:
    assert kind.name.partition("/")[0] == kind.path.rpartition("/")[2], f"name {kind.name} as in {kind.path}"


@each_kind
def test_the_type_is_named_like_the_kind_of_the_api(kind: ResourceKind[Any]) -> None:
    """Owner references name the kind of the API, and look it up by the type's name."""
    plural = kind.path.rpartition("/")[2]
    assert plural.startswith(kind.type.__name__.lower()), f"rename {kind.type.__name__}"


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
