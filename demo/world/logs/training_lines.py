"""This file is what trainings print: progress, and how they end."""

from __future__ import annotations

from demo.world.logs.line import Line
from demo.world.logs.writing import Writer, app, rank_of
from demo.world.state import Happening, State


def cuda_error(h: Happening, state: State) -> list[Line]:
    return [
        app(
            h,
            f"[rank{rank_of(h, state)}]: RuntimeError: CUDA error: unspecified launch failure",
            "error",
        ),
        app(
            h,
            "CUDA kernel errors might be asynchronously reported at some other API call, so the "
            "stacktrace below might be incorrect.",
            "error",
        ),
    ]


def cuda_crash(h: Happening, state: State) -> list[Line]:
    return [
        app(
            h,
            f"[rank{rank_of(h, state)}]: torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
            "error",
        )
    ]


def watchdog(h: Happening, state: State) -> list[Line]:
    rank, seconds = h.facts.get("rank", "0"), int(state.watchdog.total_seconds() * 1000)
    head = f"[rank{rank}]:[E{h.at:%m%d %H:%M:%S.%f} ProcessGroupNCCL.cpp:632] [Rank {rank}]"
    return [
        app(
            h,
            f"{head} Watchdog caught collective operation timeout: WorkNCCL(SeqNum=48213, "
            f"OpType=ALLREDUCE, NumelIn=26214400, "
            f"NumelOut=26214400, Timeout(ms)={seconds}) ran for {seconds + 87} milliseconds before timing out.",
            "error",
        ),
        app(h, f"{head} To avoid data inconsistency, we are taking the entire process down.", "error"),
    ]


def peer_gone(h: Happening, state: State) -> list[Line]:
    return [
        app(
            h,
            "NCCL WARN NET/IB : Got completion from peer 10.0.0.12<47311> with status=12 opcode=0 "
            "len=0 vendor err 129 (Recv)",
            "error",
        )
    ]


def rank_lost(h: Happening, state: State) -> list[Line]:
    return [
        app(
            h,
            "torch.distributed.elastic.rendezvous: worker group membership changed, waiting for all workers to join",
            "warning",
        ),
        app(h, "NCCL WARN socketProgress: Connection closed by remote peer", "error"),
    ]


def name_failed(h: Happening, state: State) -> list[Line]:
    body = state.bodies.get(h.pod) if h.pod else None
    job = body.training.name if body and body.training else "worker"
    other = state.rng.randrange(8)
    return [
        app(
            h,
            f"socket.gaierror: [Errno -3] Temporary failure in name resolution: {job}-{other}.{job}",
            "error",
        ),
        app(
            h,
            f"I tensorflow/core/distributed_runtime/master.cc:240] CreateSession still waiting for "
            f"response from worker: /job:worker/replica:0/task:{other}",
        ),
    ]


def step(h: Happening, state: State) -> list[Line]:
    f = h.facts
    return [app(h, f"step {f['step']} loss {f['loss']} step_time {f['seconds']}s", stderr=False)]


def simple(text: str, level: str = "info") -> Writer:
    return lambda h, state: [app(h, text.format(**h.facts), level, stderr=False)]
