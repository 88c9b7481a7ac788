"""With several processes of pytest, a server that takes long to start is started in one of them."""

import json
import re
from pathlib import Path

import pytest

from tests.distribution import GROUPS, SPREAD, TIMES, place_of, scope_of

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "real" / "fixtures.py"
START_AT_ONCE = {"real_prometheus", "real_alertmanager"}
SERVERS = {  # by fixture: the groups that may start it
    "real_elasticsearch": {"real demo"},
    "real_elasticsearch_7": {"real demo"},
    "real_jobset": {"kubernetes"},
    "real_kubernetes": {"kubernetes", "real demo"},
    "real_opensearch": {"opensearch"},
    "real_trainer": {"kubernetes"},
}
SHARED = {"ON_BOTH_SERVERS": "real_kubernetes"}  # parameters of tests that name a fixture for several files
_FIXTURE = re.compile(rf"\b({'|'.join((*SERVERS, *SHARED))})\b")
USERS = {  # by file: the servers that it names
    file.relative_to(ROOT).as_posix(): {SHARED.get(name, name) for name in found}
    for file in sorted((ROOT / "tests").rglob("*.py"))
    if file not in (Path(__file__), FIXTURES)
    and ROOT / "tests" / "support" not in file.parents
    and (found := set(_FIXTURE.findall(file.read_text(encoding="utf-8"))))
}


@pytest.mark.parametrize("file", USERS)
def test_tests_that_use_a_server_are_in_its_group(file: str) -> None:
    for server in USERS[file]:
        assert scope_of(file) in SERVERS[server], f"{file} uses {server}: add it to tests/distribution.py"


def test_each_server_has_a_group_or_starts_at_once() -> None:
    fixtures = re.findall(r"^def (real_\w+)", FIXTURES.read_text(encoding="utf-8"), re.M)
    assert set(fixtures) == {*SERVERS, *START_AT_ONCE}
    assert set.union(*USERS.values()) == set(SERVERS)


@pytest.mark.parametrize("path", [*GROUPS, *SPREAD])
def test_what_is_named_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_a_file_without_a_group_is_a_scope_of_its_own() -> None:
    assert scope_of("tests/house/test_words.py") == "tests/house/test_words.py"


def test_groups_begin_first_and_then_what_takes_longest() -> None:
    rows = json.loads(TIMES.read_text(encoding="utf-8"))["files"]
    longest, *_, shortest = (row["of"] for row in rows if row["of"] not in GROUPS.values())
    order = sorted([shortest, longest, "tests/test_new.py", *GROUPS.values()], key=place_of)
    assert order[-3:] == [longest, shortest, "tests/test_new.py"]
