"""Outputs of programs, as their projects document it: whole, failing, truncated, and of several versions.

Sources: py-spy, README.md and src/dump.rs of 0.3.14, 0.4.0 and 0.4.3; NCCL, ras.rst of its user guide
and src/ras/client_support.cc of 2.24, 2.26 and 2.29; nvidia-smi, its manual page of drivers 535, 550 and 580; jstack,
the troubleshooting guides of Java 8, 11 and 21.
"""

import random

import pytest

from commands.execution.tools.tool_list import TOOLS

# py-spy 0.3.14 wrote ids of threads in hex without names of classes; 0.4 has the class, and decimal ids on Linux.
OLD_PY_SPY = """Process 38: python train.py
Python v3.8.10 (/usr/bin/python3.8)

Thread 0x7F1A2B3C4D5E (active+gil): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:1320)
    main (train.py:44)
"""
PY_SPY_0_4_0 = """Process 38: python -m train
Python v3.11.4 (/opt/conda/bin/python3.11)

Thread 38 (idle): "MainThread"
    wait (threading.py:320)
    get (queue.py:171)
    _try_get_data (torch/utils/data/dataloader.py:1131)
    main (train.py:44)
Thread 77 (idle): "pin memory"
    select (selectors.py:415)
"""
DENIED = """Error: Permission Denied: Try running again with elevated permissions by going 'sudo env "PATH=$PATH" !!'

Caused by:
    Operation not permitted (os error 1)
"""
RAS_WELL = """NCCL version 2.24.3 compiled with CUDA 12.4
CUDA runtime version 12040, driver version 12040

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      4          8            1         32       32

Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         8         4         1         4        32   RUNNING      OK
"""
RAS_BEHIND = """Communicators... (0.00s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4         8        32        32   RUNNING  MISMATCH

Warnings
========

#0-0 (27a079b828ff1a75) MISMATCH
  Communicator ranks have different AllReduce operation counts
  31 ranks have launched up to operation 6650
  1 ranks have launched up to operation 6649
  Rank 17 -- GPU 1 managed by process 483072 on node 172.16.64.210
"""
RAS_DEAD = """Communicators... (2.05s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         4       7-8        32        32   RUNNING  INCOMPLETE

Errors
======

DEAD
  1 job process is considered dead (unreachable via the RAS network)
  Process 3487984 on node 172.16.64.213 managing GPU 5

#0-0 (cf264af53edbe986) INCOMPLETE
  Missing communicator data from 1 rank
  The missing rank: 21
"""
SMI = (
    "0, NVIDIA H100 80GB HBM3, 100, 61234, 81559, 61, P0\n1, NVIDIA H100 80GB HBM3, 0, 61200, 81559, 40, P0\n"
)
SMI_OLD = (
    "0, Tesla V100-SXM2-32GB, 0, 0, 32768, 33, P0\n1, Tesla V100-SXM2-32GB, [N/A], [N/A], 32768, 33, P0\n"
)
SMI_LOST = (
    "0, NVIDIA A100-SXM4-80GB, 98, 70000, 81920, 66, P0\n"
    "Unable to determine the device handle for GPU1: 0000:4E:00.0: Unknown Error\n"
)
SMI_580 = "0, NVIDIA GB200, 97, 180000, 189471, 58, P0\n1, NVIDIA GB200, [GPU requires reset], 0, 189471, [N/A], P0\n"
SMI_OFF_BUS = (
    "Unable to determine the device handle for GPU0: 0000:4E:00.0: GPU is lost.  Reboot the system\n"
)
NVML = "Failed to initialize NVML: Unknown Error\n"
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n"
JSTACK_8 = """Process 9
2026-11-21 12:00:00
Full thread dump OpenJDK 64-Bit Server VM (25.392-b08 mixed mode):

"main" #1 prio=5 os_prio=0 tid=0x00007f nid=0x9 waiting on condition [0x00007f]
   java.lang.Thread.State: WAITING (parking)
	at sun.misc.Unsafe.park(Native Method)
	at java.util.concurrent.locks.LockSupport.park(LockSupport.java:175)
"""
JSTACK_11 = """Process 9
2026-11-21 12:00:00
Full thread dump OpenJDK 64-Bit Server VM (11.0.22+7 mixed mode, sharing):

Threads class SMR info:
_java_thread_list=0x00007f, length=2, elements={
0x00007f, 0x00007e
}

"main" #1 prio=5 os_prio=0 cpu=61.20ms elapsed=50.12s tid=0x00007f nid=0x9 waiting for monitor entry  [0x00007f]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at train.Loader.next(Loader.java:88)
	- waiting to lock <0x000000071ab> (a java.lang.Object)
	at train.Main.main(Main.java:12)

"VM Thread" os_prio=0 cpu=2.01ms elapsed=50.11s tid=0x00007d nid=0xb runnable
"""
JSTACK_21 = """"main" #1 [9] prio=5 os_prio=0 cpu=120.1ms elapsed=50.2s tid=0x00007f nid=9 runnable  [0x00007f]
   java.lang.Thread.State: RUNNABLE
	at sun.nio.ch.Net.poll(java.base@21.0.2/Native Method)
"""
DEADLOCK = """Found one Java-level deadlock:
=============================
"Thread-1":
  waiting to lock monitor 0x00007f (object 0x000, a java.lang.Object),
"""


@pytest.mark.parametrize(
    ("tool", "output", "code", "where"),
    [
        ("py-spy", OLD_PY_SPY, 0, "wait in all_reduce"),
        ("py-spy", PY_SPY_0_4_0, 0, "in the data loader"),
        ("ncclras", RAS_WELL, 0, "8 communicators are healthy"),
        ("ncclras", RAS_BEHIND, 0, "1 rank is at operation 6649, others at 6650"),
        ("ncclras", RAS_DEAD, 0, "1 process is dead and no answer from rank 21"),
        ("nvidia-smi", SMI, 0, "1 of 2 GPUs busy"),
        ("nvidia-smi", SMI_OLD, 0, "0 of 2 GPUs busy and 1 GPU does not answer"),
        ("nvidia-smi", SMI_580, 0, "1 of 2 GPUs busy and 1 GPU does not answer"),
        ("nvidia-smi", SMI_LOST, 15, "1 of 1 GPU busy and 1 GPU does not answer"),
        ("jstack", JSTACK_8, 0, "in sun.misc.Unsafe.park (Native Method)"),
        ("jstack", JSTACK_11, 0, "in train.Loader.next (Loader.java:88)"),
        ("jstack", JSTACK_21, 0, "in sun.nio.ch.Net.poll (java.base@21.0.2/Native Method)"),
        ("jstack", DEADLOCK, 0, "are in a deadlock that Java reports"),
    ],
)
def test_what_is_documented_is_understood(tool: str, output: str, code: int, where: str) -> None:
    result = TOOLS[tool].read(output, code)
    assert (result.where, result.error) == (where, "")
    assert result.lines


@pytest.mark.parametrize(
    ("tool", "output", "code", "error"),
    [
        ("py-spy", DENIED, 1, "needs the capability SYS_PTRACE"),
        ("py-spy", "", 3, "no Python process runs in it"),
        ("py-spy", "", 1, "py-spy ended with 1 and printed nothing"),
        ("ncclras", "Connection refused\n", 1, "no NCCL 2.24 or newer answers there"),
        ("nvidia-smi", MISMATCH, 18, "the driver was updated and the node was not rebooted"),
        ("nvidia-smi", SMI_OFF_BUS, 15, "a GPU has fallen off the bus"),
        ("nvidia-smi", NVML, 255, "the driver does not answer (NVML)"),
        ("nvidia-smi", "No devices were found\n", 6, "no GPU is there"),
        (
            "nvidia-smi",
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
            9,
            "the driver is not loaded",
        ),
        ("jstack", "", 3, "no Java process runs in it"),
        (
            "jstack",
            "9: Unable to open socket file: target process not responding\n",
            1,
            "target process not responding",
        ),
    ],
)
def test_a_failure_is_said_in_words(tool: str, output: str, code: int, error: str) -> None:
    result = TOOLS[tool].read(output, code)
    assert error in result.error
    assert not result.where


OUTPUTS = [
    ("py-spy", PY_SPY_0_4_0),
    ("ncclras", RAS_DEAD),
    ("ncclras", RAS_BEHIND),
    ("nvidia-smi", SMI_LOST),
    ("nvidia-smi", SMI_580),
    ("jstack", JSTACK_8),
    ("jstack", JSTACK_11),
    ("jstack", JSTACK_21),
]


@pytest.mark.parametrize(("tool", "output"), OUTPUTS)
def test_an_output_that_is_cut_off_anywhere_gives_a_result_or_a_reason(tool: str, output: str) -> None:
    for end in range(len(output)):
        result = TOOLS[tool].read(output[:end], 0)
        assert bool(result.where) != bool(result.error), output[:end]


@pytest.mark.parametrize(("tool", "output"), OUTPUTS)
def test_an_output_with_anything_in_it_is_bounded_and_printable(tool: str, output: str) -> None:
    dice = random.Random(7)
    for _ in range(40):
        at = dice.randrange(len(output))
        noise = "".join(
            chr(dice.choice((0, 7, 27, 0x202E, 0xD800, 65, 10, 34, 40))) for _ in range(dice.randrange(4000))
        )
        result = TOOLS[tool].read(output[:at] + noise + output[at:], 1)
        assert len(result.lines) <= 30
        for line in result.lines:
            assert len(line) <= 200
            assert line.isprintable()


def test_no_word_of_a_chat_or_a_cluster_is_in_a_command_line() -> None:
    for tool in TOOLS.values():
        assert all("{" not in part or "${" in part for part in tool.command)
        assert isinstance(tool.command, tuple)


ONE_BEHIND = """\
Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
    0         1         2         4         8         8   RUNNING  MISMATCH

Warnings
========

#0-0 (78db921d1c117b4a) MISMATCH
  Communicator ranks have different AllReduce operation counts
  7 ranks have launched up to operation 64
  Rank 7 has launched up to operation 60 -- GPU 3 managed by process 1650386 on node node1
"""


def test_ncclras_names_a_single_rank_that_is_behind() -> None:
    """A single rank has a line of its own, without a number of ranks (NCCL, src/ras/client_support.cc)."""
    found = TOOLS["ncclras"].read(ONE_BEHIND, 0)
    assert found.where == "rank 7 is at operation 60, others at 64"


def test_ncclras_does_not_take_a_rank_that_is_behind_for_one_that_is_missing() -> None:
    both = ONE_BEHIND.replace("MISMATCH\n  Communicator", "INCOMPLETE MISMATCH\n  Communicator")
    assert "no answer" not in TOOLS["ncclras"].read(both, 0).where
