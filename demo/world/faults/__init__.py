"""This package is what can go wrong. A fault changes causes; physics makes the effects and their end."""

from demo.world.faults.catalogue import FAULTS, Faults
from demo.world.faults.fault import Fault, UnknownFaultError

__all__ = ["FAULTS", "Fault", "Faults", "UnknownFaultError"]
