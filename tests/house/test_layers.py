"""The layers: an import that points up, planted in any room of the product, is refused by a contract of import-linter.

The plants are derived from the tree: a new room, check, kind of training, step, source or channel is planted by itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import cache

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract

from tests.house.conftest import ROOT

PACKAGES = ("collectors", "alerts", "commands", "bot", "demo")  # from below
LIBRARIES = ("go_templates",)  # distributions of their own, which know nothing of the product
TYPES: Mapping[str, type[Contract]] = {
    "forbidden": ForbiddenContract,
    "independence": IndependenceContract,
    "layers": LayersContract,
}


@cache
def imports() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, *LIBRARIES, include_external_packages=True, cache_dir=None)


@cache
def contracts() -> tuple[Contract, ...]:
    options = read_configuration(str(ROOT / "pyproject.toml"))
    return tuple(
        TYPES[one["type"]](name=one["name"], session_options=options["session_options"], contract_options=one)
        for one in options["contracts_options"]
    )


def is_refused(graph: grimp.ImportGraph) -> bool:
    return not all(one.check(deepcopy(graph), verbose=False).kept for one in contracts())


def with_import(importer: str, imported: str) -> grimp.ImportGraph:
    graph = deepcopy(imports())
    graph.add_import(importer=importer, imported=imported)
    return graph


def rooms() -> Iterator[tuple[str, str]]:
    """Yield (package, room): its folders and modules."""
    for package in PACKAGES[:-1]:
        yield from ((package, room) for room in sorted(imports().find_children(package)))


def imports_any(importer: str, imported: str) -> bool:
    return imports().direct_import_exists(importer=importer, imported=imported, as_packages=True)


def upward() -> Iterator[tuple[str, str]]:
    """Yield an import for each room: of a room that imports it, or else of the package above."""
    for package, room in rooms():
        above = [
            other
            for owner, other in rooms()
            if owner == package
            and other != room
            and imports_any(other, room)
            and not imports_any(room, other)
        ]
        above += [PACKAGES[PACKAGES.index(package) + 1]]
        yield room, above[0]


def siblings() -> Iterator[tuple[str, str]]:
    """Yield, for each part that has others like it, an import between it and one of those."""
    graph = imports()
    folders = {
        name: sorted(one for one in graph.find_children(name) if graph.find_children(one))
        for name in ("bot.channels", "collectors.sources")
    }
    checks = sorted(graph.find_children("collectors.checks"))
    steps = sorted(graph.find_children("commands.execution.steps") - {"commands.execution.steps.step_kind"})
    read, written = (
        {one.rpartition(".")[2] for one in graph.find_children(name)}
        for name in ("collectors.trainings", "commands.training")
    )
    kinds = sorted(read & written)  # a kind of training has a file of its name in both
    for group in (
        *folders.values(),
        checks,
        steps,
        [f"collectors.trainings.{kind}" for kind in kinds],
        [f"commands.training.{kind}" for kind in kinds],
    ):
        assert len(group) > 1
        for one, other in zip(group, [*group[1:], group[0]], strict=True):
            is_there = graph.direct_import_exists(importer=one, imported=other)
            yield (other, one) if is_there else (one, other)


def test_the_imports_of_today_are_kept() -> None:
    assert not is_refused(imports())


def permitted(planted: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the imports that no contract refuses."""
    return [one for one in planted if not is_refused(with_import(*one))]


def test_no_room_may_import_what_imports_it() -> None:
    assert len(list(upward())) > 60
    assert permitted(upward()) == []


def test_no_two_parts_of_one_kind_may_import_each_other() -> None:
    assert permitted(siblings()) == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_may_import_nothing_of_the_product(library: str) -> None:
    assert permitted((f"{library}.template", package) for package in PACKAGES) == []


def test_alerts_may_import_facts_only() -> None:
    others = [room for package, room in rooms() if package == "collectors" and room != "collectors.facts"]
    assert permitted(("alerts.engine", room) for room in others) == []


@pytest.mark.parametrize("package", PACKAGES[:-1])
def test_a_room_without_a_place_is_refused(package: str) -> None:
    graph = deepcopy(imports())
    graph.add_module(f"{package}.newcomer")
    assert is_refused(graph)


def test_an_import_that_points_down_is_permitted() -> None:
    assert permitted([("bot.wiring", "collectors.facts")]) == [("bot.wiring", "collectors.facts")]
