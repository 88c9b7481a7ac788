"""Positions inside texts of a rule file: where in the file a character of an expression is."""

from alerts.loading.node_reader import NodeReader
from alerts.loading.yaml_nodes import ScalarNode, YamlNode
from alerts.rules import FileLocation


def location_within(reader: NodeReader, node: YamlNode, expr: str, line: int, column: int) -> FileLocation:
    """Return where a position of the expression is in the file, if the file has the expression unchanged."""
    shown = expr.split("\n")[line - 1] if line else ""
    style = node.style if isinstance(node, ScalarNode) else ""
    if shown and style == ">":
        return _within_folded(reader, node, shown, column)
    at = node.line - 1 + (line if style == "|" else 0)  # a block starts on the line after its `|`
    if shown and at < len(reader.lines):
        start = reader.lines[at].find(shown, 0 if style == "|" else node.column - 1)
        if start >= 0:
            return FileLocation(file=reader.file, line=at + 1, column=start + column)
    return reader.location(node)


def _within_folded(reader: NodeReader, node: YamlNode, shown: str, column: int) -> FileLocation:
    """Return the position in a block whose lines are one line of the text, with a blank between them."""
    start = 0  # in the text, of the line of the file
    for number in range(node.line, len(reader.lines)):
        written = reader.lines[number].strip()
        if not written or not shown.startswith(written, start):
            break
        if column - 1 <= start + len(written):
            indent = len(reader.lines[number]) - len(reader.lines[number].lstrip())
            return FileLocation(file=reader.file, line=number + 1, column=indent + column - start)
        start += len(written) + 1
    return reader.location(node)
