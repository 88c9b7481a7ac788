"""This file is what a training says of itself on the port that its Service annotates."""

from __future__ import annotations

from demo.world.exporters.text import Family, counter, gauge
from demo.world.state import Body, Training


def families(training: Training, body: Body) -> list[Family]:
    """What one rank answers: progress is the training's, the rank is its own."""
    rank = {"rank": str(body.rank)}
    steps = counter("training_steps_total", "Optimizer steps done since the start of the training.")
    steps.put(rank, int(training.steps))
    seconds = gauge("training_step_duration_seconds", "Wall time of the last step.")
    seconds.put(rank, round(training.step_seconds, 4))
    loss = gauge("training_loss", "Loss of the last step.")
    loss.put(rank, round(training.loss, 4))
    answer = [steps, seconds, loss]
    if training.checkpoint_at is not None:
        saved = gauge("training_checkpoint_timestamp_seconds", "When the last checkpoint was complete.")
        saved.put(rank, round(training.checkpoint_at.timestamp()))
        answer.append(saved)
    return answer


def server_families(body: Body) -> list[Family]:
    """What a parameter server answers: what it holds and how long it computed."""
    held = gauge("training_server_parameters_bytes", "Bytes of parameters that this server holds.")
    held.add(round(body.memory))
    spent = counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")
    spent.add(round(body.cpu_seconds, 2))
    return [held, spent]
