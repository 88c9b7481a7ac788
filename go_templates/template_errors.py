"""Errors of templates: one for those that do not parse, one for those that do not render."""


class TemplateError(Exception):
    """A template that does not parse. `line` and `column` count from 1 within the template."""

    def __init__(self, what: str, *, line: int, column: int) -> None:
        super().__init__(f"{line}:{column}: {what}")
        self.what = what
        self.line = line
        self.column = column


class RenderError(Exception):
    """A template that parses but cannot be rendered with these values. `Template.render` shows it inline."""


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """Return line and column, counted from 1, of an offset in a text."""
    line = text.count("\n", 0, at) + 1
    return line, at - text.rfind("\n", 0, at)
