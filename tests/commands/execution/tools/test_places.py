"""Places of stacks, in words, and how the ranks of a training are grouped."""

import pytest

from commands.execution.tools.py_spy import read_stacks
from commands.execution.tools.rank_groups import rank_groups
from commands.execution.tools.stack_places import waiting_place

DIST = "torch/distributed/distributed_c10d.py"


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        (
            [("all_reduce", DIST, "2501"), ("wrapper", "torch/distributed/c10d_logger.py", "81")],
            "wait in all_reduce",
        ),
        (
            [("_all_gather_base", DIST, "3300"), ("forward", "fsdp/_flat_param.py", "1")],
            "wait in all_gather_base",
        ),
        ([("barrier", DIST, "4100"), ("main", "train.py", "9")], "wait in barrier"),
        ([("recv", DIST, "1900"), ("pipeline", "schedules.py", "9")], "wait in recv"),
        (
            [
                ("Condition.wait", "threading.py", "327"),
                ("Queue.get", "queue.py", "171"),
                ("_MultiProcessingDataLoaderIter._try_get_data", "torch/utils/data/dataloader.py", "1131"),
            ],
            "in the data loader",
        ),
        (
            [("recv", "multiprocessing/connection.py", "250"), ("_next_data", "dataloader.py", "3")],
            "in the data loader",
        ),
        ([("_write_item", "torch/distributed/checkpoint/filesystem.py", "1")], "save a checkpoint"),
        ([("save", "torch/serialization.py", "800"), ("main", "train.py", "4")], "save a checkpoint"),
        ([("synchronize", "torch/cuda/__init__.py", "892"), ("step", "train.py", "4")], "wait for their GPU"),
        ([("init_process_group", DIST, "1"), ("main", "train.py", "4")], "wait for the other ranks to join"),
        ([("forward", "model.py", "44"), ("train", "train.py", "4")], "in forward (model.py:44)"),
        ([("sleep", "<frozen time>", ""), ("poll_file", "train.py", "4")], "in poll_file (train.py:4)"),
    ],
)
def test_the_innermost_known_frame_says_where_it_is(frames: list[tuple[str, str, str]], said: str) -> None:
    assert waiting_place(frames).said == said


def test_a_launcher_that_waits_for_its_ranks_is_not_where_the_work_is() -> None:
    output = (
        "Process 1: torchrun --nproc 1 train.py\nPython v3.12.3 (/usr/bin/python3.12)\n\n"
        'Thread 1 (idle): "MainThread"\n'
        "    _invoke_run (torch/distributed/elastic/agent/server/api.py:870)\n"
        "    run (torch/distributed/elastic/agent/server/api.py:680)\n"
        "Process 30: python train.py\nPython v3.12.3 (/usr/bin/python3.12)\n\n"
        'Thread 30 (active): "MainThread"\n'
        "    all_reduce (torch/distributed/distributed_c10d.py:2501)\n"
        "    main (train.py:9)\n"
    )
    assert read_stacks(output, 0).where == "wait in all_reduce"


def test_ranks_are_grouped_by_what_they_said_and_errors_come_last() -> None:
    said = [
        (f"worker {rank}", "wait in all_reduce\n  all_reduce (c10d.py:1)") for rank in range(64) if rank != 17
    ]
    said += [("worker 17", "in the data loader"), ("ps 0", "!container main has no py-spy")]
    first, second, last = rank_groups(said)
    assert (first.where, len(first.ranks), first.lines) == (
        "wait in all_reduce",
        63,
        ("  all_reduce (c10d.py:1)",),
    )
    assert (second.where, second.ranks) == ("in the data loader", ("worker 17",))
    assert (last.where, last.is_error) == ("container main has no py-spy", True)
