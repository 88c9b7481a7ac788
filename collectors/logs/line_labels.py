"""Labels of lines, from what shippers say in several fields."""

from collections.abc import Callable, Sequence

from collectors.facts.one_line import IDENTITY, one_line

UNIT = ".service"  # the journal says the unit of a component, syslog its program


def no_node(_value: str) -> str:
    """Return the node of a value while the nodes of the cluster are not known."""
    return ""


def label_value(label: str, values: Sequence[object], node_of: Callable[[str], str] = no_node) -> str:
    """Return the value of a label from those of its fields, the most reliable first: the first that is there.

    Of a node it is the first that names one of the cluster, by any of its names: a field may hold the host of the
    shipper, or of whatever the lines passed. `node_of` returns the node that a value names, empty for none.
    """
    said = [one_line(str(value), IDENTITY) for value in values if value not in (None, "")]
    value = next(iter(said), "")
    if label == "node":
        value = next(filter(None, map(node_of, said)), value)
    return value.removesuffix(UNIT) if label == "component" else value


def spellings(label: str, values: Sequence[str]) -> tuple[str, ...]:
    """Return the values that fields may have for these values of a label."""
    if label != "component":
        return tuple(values)
    return (*values, *(f"{value}{UNIT}" for value in values))
