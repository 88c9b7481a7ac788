"""Suites: which tests a node must pass before it returns. Ours is the default; others are settings.

A test is a script of a fixed list, and the format in which its output is read. No text from chat or cluster is in a
script: what differs between nodes is in the environment, and is checked before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Protocol

import msgspec
import yaml

from collectors.acceptance.nvidia_smi import QUERY
from collectors.facts.clock import duration

OUR_SUITE = "yardmaster"  # the suite that there is without a setting
LEASE_AUTOMATION = "acceptance"  # of the settings: what may end leases by itself
SCRIPTS = "accept/"  # before the name of a test: what `node_jobs.images` has an image for
# What a script finds in its environment.
GPU_COUNT = "YARDMASTER_GPUS"
NEIGHBOUR = "YARDMASTER_NEIGHBOUR"  # the address of another node; empty if none is known
HEAD = "YARDMASTER_HEAD"  # the address of the first node of a test between two
ONE_GPU = "YARDMASTER_GPU"  # the UUID of the GPU, of a test of one
RANK = "YARDMASTER_RANK"  # 0 or 1, of a test between two
_FOLDER = Path(__file__).parent
LOG_BYTES = 256 << 10  # the diagnostic of 16 GPUs has some 60,000


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTest:
    """A test. `gpus`: it gets all GPUs of the node; `between`: it runs on two nodes at once, with `--with` only.

    `one_gpu`: it can test one GPU alone.
    """

    name: str
    reads: str  # the name of its reader
    text: str
    image: str = ""  # empty: as `node_jobs` says
    shell: str = "/bin/sh"
    gpus: bool = True
    privileged: bool = False
    between: bool = False
    one_gpu: bool = False
    memory: str = ""  # size of /dev/shm
    within: timedelta = timedelta(minutes=15)

    @property
    def script(self) -> str:
        return SCRIPTS + self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    name: str
    tests: tuple[SuiteTest, ...]

    def of(self, *, has_pair: bool) -> tuple[SuiteTest, ...]:
        """Return the tests that run, with or without a second node."""
        return tuple(one for one in self.tests if has_pair or not one.between)

    @property
    def of_one_gpu(self) -> tuple[SuiteTest, ...]:
        """The tests that one GPU alone is given to."""
        return tuple(one for one in self.tests if one.one_gpu and one.gpus and not one.between)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptancePolicy:
    """The settings of acceptance. `ends_lease`: a pass ends the lease by itself, where the automation may."""

    suites: Mapping[str, Suite] = field(default_factory=dict)
    suite: str = OUR_SUITE  # the one that runs without `--suite`
    ends_lease: bool = False
    slow_below: float = 0.9
    watched_for: timedelta = timedelta(hours=1)

    @property
    def all(self) -> Mapping[str, Suite]:
        """All suites by name; the settings may replace ours."""
        return {OUR_SUITE: our_suite(), **self.suites}


class TestEntry(Protocol):
    """A test as the settings describe it."""

    @property
    def name(self) -> str: ...
    @property
    def reads(self) -> str: ...
    @property
    def script(self) -> str: ...
    @property
    def image(self) -> str: ...
    @property
    def gpus(self) -> bool: ...
    @property
    def privileged(self) -> bool: ...
    @property
    def between(self) -> bool: ...
    @property
    def one_gpu(self) -> bool: ...
    @property
    def within(self) -> timedelta: ...


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    reads: str
    within: str
    gpus: bool = True
    privileged: bool = False
    between: bool = False
    one_gpu: bool = False
    memory: str = ""


@cache
def our_suite() -> Suite:
    """Return the suite that is shipped: the files of this folder."""
    found = yaml.safe_load((_FOLDER / "suite.yaml").read_text(encoding="utf-8"))
    return Suite(name=OUR_SUITE, tests=tuple(map(_own, msgspec.convert(found, list[_Entry]))))


def _own(entry: _Entry) -> SuiteTest:
    text = (_FOLDER / "scripts" / f"{entry.name}.sh").read_text(encoding="utf-8")
    return SuiteTest(
        name=entry.name,
        reads=entry.reads,
        text=text.replace("@QUERY@", QUERY),
        gpus=entry.gpus,
        privileged=entry.privileged,
        between=entry.between,
        one_gpu=entry.one_gpu,
        memory=entry.memory,
        within=duration(entry.within),
    )


def suite_of_settings(name: str, entries: Sequence[TestEntry]) -> Suite:
    """Return a suite that the settings describe."""
    tests = (
        SuiteTest(
            name=entry.name,
            reads=entry.reads,
            text=entry.script,
            image=entry.image,
            gpus=entry.gpus,
            privileged=entry.privileged,
            between=entry.between,
            one_gpu=entry.one_gpu,
            memory="8Gi" if entry.gpus else "",
            within=entry.within,
        )
        for entry in entries
    )
    return Suite(name=name, tests=tuple(tests))
