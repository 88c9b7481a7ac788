"""Metrics of a training on the port in its Service's annotation."""

from __future__ import annotations

from demo.world.exporters.text import Family, counter, gauge
from demo.world.state import Body, Training


def families(training: Training, body: Body) -> list[Family]:
    """The metrics of one rank: the training's progress with the rank's label."""
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
    """The metrics of a parameter server: its memory and CPU time."""
    held = gauge("training_server_parameters_bytes", "Bytes of parameters that this server holds.")
    held.add(round(body.memory))
    spent = counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")
    spent.add(round(body.cpu_seconds, 2))
    return [held, spent]
