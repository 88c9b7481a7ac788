"""Fault injection. A fault changes causes; physics computes the effects and their end."""

from demo.world.faults.catalogue import FAULTS, Faults
from demo.world.faults.fault import Fault, UnknownFaultError

__all__ = ["FAULTS", "Fault", "Faults", "UnknownFaultError"]
