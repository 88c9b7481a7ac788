"""Suites: which tests a node must pass before it returns. Ours is the default; others are settings.

A test is a command in an image, and the format in which its output is read. No text from chat or cluster is in a
command: what differs between nodes is in the environment, and is checked before.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from collectors.acceptance.nvidia_smi import QUERY

OURS = "yardmaster"  # the suite that there is without a setting
NAMESPACE = "yardmaster-acceptance"
# What a test finds in its environment, with what Kubernetes knows or what the plan read.
GPU_COUNT, NEIGHBOUR, HEAD, RANK, NODES = (
    "YARDMASTER_GPUS",
    "YARDMASTER_NEIGHBOUR",  # the address of another node
    "YARDMASTER_HEAD",  # the address of the first node of a test between two
    "YARDMASTER_RANK",
    "YARDMASTER_NODES",
)


class RunsOn(StrEnum):
    NODE = "node"
    PAIR = "pair"  # both nodes at once: only with `--with NODE`


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTest:
    """A test. `image` is the name of one of the images, or a reference; `gpus`: it gets all GPUs of the node."""

    name: str
    reads: str
    image: str
    command: tuple[str, ...]
    gpus: bool = True
    within: timedelta = timedelta(minutes=15)
    runs_on: RunsOn = RunsOn.NODE
    is_privileged: bool = False
    needs_neighbour: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    name: str
    tests: tuple[SuiteTest, ...]

    def of(self, *, has_pair: bool) -> tuple[SuiteTest, ...]:
        """Return the tests that run, with or without a second node."""
        return tuple(one for one in self.tests if has_pair or one.runs_on is not RunsOn.PAIR)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptancePolicy:
    """The settings of acceptance."""

    suites: Mapping[str, Suite] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)  # name -> reference
    suite: str = OURS  # the one that runs without `--suite`
    ends_lease: bool = False
    slow_below: float = 0.9
    watched_for: timedelta = timedelta(hours=1)
    namespace: str = NAMESPACE

    def named(self, name: str) -> Suite | None:
        """Return the suite of this name; the settings may replace ours."""
        found = self.suites.get(name)
        return found or (our_suite() if name == OURS else None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({OURS, *self.suites}))

    @property
    def is_used(self) -> bool:
        """Whether the settings speak of it: then a node that returns without a test is noted."""
        return bool(self.suites or self.images)

    def image_of(self, test: SuiteTest) -> str:
        """Return the reference of a test's image; empty if the settings have none of that name."""
        if "/" in test.image or ":" in test.image:
            return test.image
        return self.images.get(test.image, "")

    def missing_images(self, tests: tuple[SuiteTest, ...]) -> tuple[str, ...]:
        """Return the names of images that the settings lack."""
        return tuple(dict.fromkeys(test.image for test in tests if not self.image_of(test)))


def our_suite() -> Suite:
    return Suite(name=OURS, tests=tuple(_ours()))


_DRIVER = f"exec nvidia-smi --query-gpu={QUERY} --format=csv"
_DEVICES = """
echo "yardmaster/1 version kernel $(uname -r)"
for file in /dev/nvidiactl /dev/nvidia-uvm $(seq -f /dev/nvidia%.0f 0 $((YARDMASTER_GPUS - 1))); do
  if [ -c "$file" ]; then echo "yardmaster/1 device-file pass"
  else echo "yardmaster/1 device-file fail next=configure -- $file is missing"; fi
done
echo "yardmaster/1 end"
"""
_DCGM = "dcgmi diag -r 2 -j || true"
_NCCL = """
count=0
while [ "$count" -lt "$YARDMASTER_GPUS" ]; do
  echo "yardmaster/1 gpu $count"
  CUDA_VISIBLE_DEVICES=$count all_reduce_perf -b 1G -e 1G -f 2 -g 1 2>&1
  count=$((count + 1))
done
echo "yardmaster/1 gpu all"
all_reduce_perf -b 256M -e 4G -f 2 -g "$YARDMASTER_GPUS" 2>&1
true
"""
_DISK = """
file=/scratch/yardmaster-disk-test
began=$(date +%s%N)
if dd if=/dev/zero of="$file" bs=16M count=128 oflag=direct conv=fsync 2>/dev/null; then
  took=$(( ($(date +%s%N) - began) / 1000000 ))
  echo "yardmaster/1 disk-write pass $((2147483648 / (took + 1) / 1000)) MB/s"
else echo "yardmaster/1 disk-write fail -- 2 GiB could not be written"; fi
rm -f "$file"
echo "yardmaster/1 end"
"""
_NETWORK = """
began=$(date +%s%N)
if getent hosts kubernetes.default.svc >/dev/null; then
  echo "yardmaster/1 dns pass $(( ($(date +%s%N) - began) / 1000000 )) ms"
else echo "yardmaster/1 dns fail -- kubernetes.default.svc is not resolved"; fi
if [ -z "$YARDMASTER_NEIGHBOUR" ]; then echo "yardmaster/1 network skip -- no other node is known"
else
  lost=0
  for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    timeout 2 bash -c 'exec 3<>"/dev/tcp/$YARDMASTER_NEIGHBOUR/10250"' 2>/dev/null || lost=$((lost + 1))
  done
  if [ "$lost" -eq 0 ]; then echo "yardmaster/1 network pass"
  else echo "yardmaster/1 network fail -- $lost of 20 connections to the neighbour failed"; fi
fi
echo "yardmaster/1 end"
"""


def _sh(script: str) -> tuple[str, ...]:
    return ("bash", "-c", script.strip() + "\n")


def _ours() -> Iterator[SuiteTest]:
    yield SuiteTest(
        name="driver", reads="nvidia-smi", image="gpu", command=_sh(_DRIVER), within=timedelta(minutes=5)
    )
    yield SuiteTest(
        name="devices", reads="lines", image="gpu", command=_sh(_DEVICES), within=timedelta(minutes=5)
    )
    yield SuiteTest(
        name="dcgm",
        reads="dcgm-diag",
        image="dcgm",
        command=_sh(_DCGM),
        within=timedelta(minutes=20),
        is_privileged=True,
    )
    yield SuiteTest(
        name="nccl", reads="nccl-tests", image="nccl", command=_sh(_NCCL), within=timedelta(minutes=20)
    )
    yield SuiteTest(
        name="disk",
        reads="lines",
        image="gpu",
        command=_sh(_DISK),
        gpus=False,
        within=timedelta(minutes=10),
    )
    yield SuiteTest(
        name="network",
        reads="lines",
        image="gpu",
        command=_sh(_NETWORK),
        gpus=False,
        within=timedelta(minutes=5),
        needs_neighbour=True,
    )
    yield SuiteTest(
        name="nccl-pair",
        reads="nccl-tests",
        image="nccl-pair",  # its entry point knows how to start the ranks of two nodes
        command=(),
        within=timedelta(minutes=20),
        runs_on=RunsOn.PAIR,
    )
