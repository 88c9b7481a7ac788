"""This file is what a fault is: it changes causes when it begins and takes that back when it ends."""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from demo.world.state import Happening, Host, State, Training


class UnknownFaultError(Exception):
    """There is no such fault, or it does not take these parameters. The text says what there is."""


class Fault(Protocol):
    """What a fault is to the world: it begins, goes on while it lasts, and ends."""

    def begin(self, state: State) -> list[Happening]: ...
    def go_on(self, state: State, age: timedelta, dt: timedelta) -> list[Happening]: ...
    def end(self, state: State) -> list[Happening]: ...


class Quiet:
    """A fault that has nothing to add while it lasts."""

    def go_on(self, state: State, age: timedelta, dt: timedelta) -> list[Happening]:
        return []

    def end(self, state: State) -> list[Happening]:
        return []


def host_of(state: State, node: str) -> Host:
    if node not in state.hosts:
        raise UnknownFaultError(f"there is no node {node!r}; there are {', '.join(sorted(state.hosts))}")
    return state.hosts[node]


def training_of(state: State, word: str) -> Training:
    """A training by its namespace, its name or its job's name."""
    for training in state.trainings.values():
        if word in (training.key.namespace, training.key.name, training.key.name.removesuffix("-worker")):
            return training
    there = ", ".join(sorted(key.namespace for key in state.trainings)) or "none"
    raise UnknownFaultError(f"no training {word!r} runs; there is {there}")
