"""The memory that objects hold, whatever else the process does meanwhile."""

import gc
import sys
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import msgspec

_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType)  # they belong to the program


def held_bytes(root: object, *, apart_from: object = None) -> int:
    """Return the bytes of all objects that can be reached, each counted once.

    `apart_from`: what can be reached from here does not count.
    """
    return sum(map(sys.getsizeof, _reached(root, {*map(id, _reached(apart_from, set()))})))


def _reached(root: object, seen: set[int]) -> list[object]:
    found, todo = [], [root]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, _SHARED):
            continue
        seen.add(id(one))
        found.append(one)
        todo += _referents(one)
    return found


def _referents(one: Any) -> list[Any]:
    """Return what it refers to. The garbage collector does not know the structs that cannot be in a cycle."""
    if isinstance(one, msgspec.Struct):
        return [getattr(one, name) for name in one.__struct_fields__]
    return gc.get_referents(one)
