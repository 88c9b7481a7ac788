"""The interface of a fault: it changes causes when it begins and reverts them when it ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from demo.world.state import Host, State, Training, WorldEvent


class UnknownFaultError(Exception):
    """The fault or one of its parameters does not exist. The text lists the valid ones."""


class Fault(Protocol):
    """A fault: `begin` once, `tick` after each step, `end` once. Each returns the events that it causes."""

    def begin(self, state: State) -> list[WorldEvent]: ...
    def tick(self, state: State, age: timedelta, dt: timedelta) -> list[WorldEvent]: ...
    def end(self, state: State) -> list[WorldEvent]: ...


class BaseFault:
    """A fault without events after its beginning."""

    def tick(self, state: State, age: timedelta, dt: timedelta) -> list[WorldEvent]:
        return []

    def end(self, state: State) -> list[WorldEvent]:
        return []


def host_of(state: State, node: str) -> Host:
    if node not in state.hosts:
        raise UnknownFaultError(f"no node {node!r}; choose from {', '.join(sorted(state.hosts))}")
    return state.hosts[node]


def training_of(state: State, name: str) -> Training:
    """Return a training by its namespace, its name or its Job's name."""
    for training in state.trainings.values():
        if name in (training.key.namespace, training.key.name, training.key.name.removesuffix("-worker")):
            return training
    running = ", ".join(sorted(key.namespace for key in state.trainings)) or "none"
    raise UnknownFaultError(f"no training {name!r} runs; choose from {running}")
