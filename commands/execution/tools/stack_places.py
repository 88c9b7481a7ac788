"""Places of stacks, in words: in a collective, in the data loader, at a checkpoint. Pure.

The functions are those of PyTorch (distributed, data, serialization), DeepSpeed, Megatron,
Horovod, JAX and TensorFlow, by their own names.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from collectors.facts.sentences import Sentence, sentence

RawFrame = tuple[str, str, str]  # function, file, line


class Place(NamedTuple):
    """`is_parent`: it only waits for processes that it has started."""

    said: str
    is_parent: bool = False


_COLLECTIVE = re.compile(
    r"(?:_?allreduce|all_reduce|_?all_?gather|_?reduce_?scatter|_?all_?to_?all|broadcast|_?barrier|monitored_barrier|"
    r"send|recv|isend|irecv|batch_isend_irecv|gather|scatter|reduce|synchronize)"
    r"(?:_base|_tensor|_into_tensor|_object|_object_list|_coalesced|_single|_async|_grads|_gradients|_multigpu)?_?"
)
_OF_COLLECTIVES = re.compile(
    r"distributed|deepspeed|megatron|horovod|nccl|c10d|mpi|parallel|comm|all_?reduce|fsdp", re.IGNORECASE
)
_RULES: tuple[tuple[re.Pattern[str], re.Pattern[str], Sentence], ...] = tuple(
    (re.compile(function), re.compile(file), said)
    for function, file, said in (
        (
            r"_next_data|_try_get_data|_get_data|_try_get_batch|__next__",
            r"dataloader|data_loader|data/",
            sentence("in the data loader"),
        ),
        (r"_next_data|_try_get_data|next_batch|get_batch", r".*", sentence("in the data loader")),
        (
            r"save|_save|save_checkpoint|_write_item|async_save|save_state_dict",
            r"serialization|checkpoint|saver",
            sentence("save a checkpoint"),
        ),
        (
            r"load|_load|load_checkpoint|load_state_dict",
            r"serialization|checkpoint",
            sentence("load a checkpoint"),
        ),
        (
            r"init_process_group|_store_based_barrier|rendezvous|_create_c10d_store|next_rendezvous",
            r".*",
            sentence("wait for the other ranks to join"),
        ),
        (
            r"compile|_compile_fx|compile_fx|_inner_compile|do_compile",
            r"inductor|triton|dynamo|xla",
            sentence("compile a kernel"),
        ),
    )
)
_SYNCHRONIZE = re.compile(r"synchronize|_?cuda_synchronize|block_until_ready|item|cpu|tolist")
_OF_GPU = re.compile(r"cuda|streams|accelerator|jax|array|tensor")
# A launcher that waits for its ranks, or a pool that waits for work.
_PARENT_FUNCTIONS = re.compile(
    r"_invoke_run|_monitor_workers|launch_agent|(?:\w+\.)?join|wait|_poll|poll|communicate|waitpid|main_loop"
)
_PARENT_FILES = re.compile(
    r"elastic|torchrun|distributed/run|launch|multiprocessing|popen_fork|subprocess|spawn|pool|forkserver|resource_tracker"
)
_BARE = re.compile(r"(?:.*\.)?(?P<name>[^.]+)")  # from Python 3.11 on a frame has the class too: Queue.get
# Functions that only wait, in the library of Python: what called them says more.
_PLUMBING = re.compile(
    r"threading|queue|selectors|connection|socket|asyncio|concurrent|ssl|reduction|synchronize|contextlib|<"
)


def waiting_place(frames: Sequence[RawFrame]) -> Place:
    """Return where a stack is, whose first frame is the innermost. The innermost frame that a rule knows decides."""
    for function, file, _ in frames:
        name = _name(function)
        if (
            _COLLECTIVE.fullmatch(name)
            and (_OF_COLLECTIVES.search(file) or not _OF_GPU.search(file))
            and name not in ("send", "recv", "gather", "scatter", "reduce", "synchronize")
        ):
            return Place(sentence("wait in {collective}", collective=name.strip("_")))
        if _COLLECTIVE.fullmatch(name) and _OF_COLLECTIVES.search(file):
            return Place(sentence("wait in {collective}", collective=name.strip("_")))
        for of_function, of_file, said in _RULES:
            if of_function.fullmatch(name) and of_file.search(file):
                return Place(said)
        if _SYNCHRONIZE.fullmatch(name) and _OF_GPU.search(file):
            return Place(sentence("wait for their GPU"))
    if any(
        _PARENT_FUNCTIONS.fullmatch(_name(function)) and _PARENT_FILES.search(file)
        for function, file, _ in frames
    ):
        return Place(sentence("wait for the processes that they started"), is_parent=True)
    function, file, line = next((one for one in frames if not _PLUMBING.search(one[1])), frames[0])
    where = f"{file}:{line}" if line else file
    return Place(sentence("in {function} ({where})", function=function, where=where))


def _name(function: str) -> str:
    found = _BARE.fullmatch(function)
    return found["name"] if found else function
