"""Log lines of trainings: progress and errors."""

from __future__ import annotations

from demo.world.logs.line import Line
from demo.world.logs.writers import Writer, app, rank_of
from demo.world.state import State, WorldEvent


def _errors(e: WorldEvent, *texts: str) -> list[Line]:
    return [app(e, text, "error") for text in texts]


def cuda_error(e: WorldEvent, state: State) -> list[Line]:
    return _errors(
        e,
        f"[rank{rank_of(e, state)}]: RuntimeError: CUDA error: unspecified launch failure",
        "CUDA kernel errors might be asynchronously reported at some other API call, so the "
        "stacktrace below might be incorrect.",
    )


def cuda_crash(e: WorldEvent, state: State) -> list[Line]:
    return _errors(
        e,
        f"[rank{rank_of(e, state)}]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
    )


def watchdog(e: WorldEvent, state: State) -> list[Line]:
    rank, seconds = e.facts.get("rank", "0"), int(state.watchdog.total_seconds() * 1000)
    head = f"[rank{rank}]:[E{e.at:%m%d %H:%M:%S.%f} ProcessGroupNCCL.cpp:632] [Rank {rank}]"
    return _errors(
        e,
        f"{head} Watchdog caught collective operation timeout: WorkNCCL(SeqNum=48213, "
        f"OpType=ALLREDUCE, NumelIn=26214400, "
        f"NumelOut=26214400, Timeout(ms)={seconds}) ran for {seconds + 87} milliseconds before timing out.",
        f"{head} To avoid data inconsistency, we are taking the entire process down.",
    )


def peer_gone(e: WorldEvent, state: State) -> list[Line]:
    return _errors(
        e,
        "NCCL WARN NET/IB : Got completion from peer 10.0.0.12<47311> with status=12 opcode=0 "
        "len=0 vendor err 129 (Recv)",
    )


def rank_lost(e: WorldEvent, state: State) -> list[Line]:
    return [
        app(
            e,
            "torch.distributed.elastic.rendezvous: worker group membership changed, waiting for all workers to join",
            "warning",
        ),
        app(e, "NCCL WARN socketProgress: Connection closed by remote peer", "error"),
    ]


def lookup_failed(e: WorldEvent, state: State) -> list[Line]:
    body = state.bodies.get(e.pod) if e.pod else None
    job = body.training.name if body and body.training else "worker"
    other = state.rng.randrange(8)
    return [
        app(
            e,
            f"socket.gaierror: [Errno -3] Temporary failure in name resolution: {job}-{other}.{job}",
            "error",
        ),
        app(
            e,
            f"I tensorflow/core/distributed_runtime/master.cc:240] CreateSession still waiting for "
            f"response from worker: /job:worker/replica:0/task:{other}",
        ),
    ]


def step(e: WorldEvent, state: State) -> list[Line]:
    f = e.facts
    return [app(e, f"step {f['step']} loss {f['loss']} step_time {f['seconds']}s", stderr=False)]


def simple(text: str, level: str = "info") -> Writer:
    return lambda e, state: [app(e, text.format(**e.facts), level, stderr=False)]
