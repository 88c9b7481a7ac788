"""Formats of printf, as in Go's fmt.Sprintf."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from go_templates.printing import LARGEST_NUMBER, Shape, bounded, format_value, typed
from go_templates.values import Value, type_of

_FLAGS = re.compile(r"[#0+\- ]*")
_NUMBER = re.compile(r"\d*", re.ASCII)
_INDEX = re.compile(r"\[(\d{1,7})\]", re.ASCII)


def sprintf(form: str, values: Sequence[Value]) -> str:
    """Format values. As in Go, the text shows an invalid format. Raise RenderError if the text is too long."""
    return _Formatter(form, values).run()


@dataclass(slots=True)
class _Formatter:
    form: str
    values: Sequence[Value]
    at: int = 0
    argument: int = 0
    is_reordered: bool = False
    is_index_good: bool = True
    is_after_index: bool = False

    def run(self) -> str:
        out = ""
        while (sign := self.form.find("%", self.at)) >= 0:
            out += self.form[self.at : sign]
            self.at = sign + 1
            out = bounded(out + self._verb())
        out += self.form[self.at :]
        if not self.is_reordered and self.argument < len(self.values):
            extra = map(typed, self.values[self.argument :])
            out += f"%!(EXTRA {', '.join(extra)})"
        return bounded(out)

    def _verb(self) -> str:
        self.is_index_good, self.is_after_index = True, False
        flags = self._match(_FLAGS)
        self._index()
        width, complaint = self._number("%!(BADWIDTH)", of_width=True)
        if width is not None and width < 0:
            width, flags = -width, flags.replace("0", "") + "-"
        precision: int | None = None
        if self.form.startswith(".", self.at) and self.at + 1 < len(self.form):
            self.at += 1
            if self.is_after_index:
                self.is_index_good = False
            self._index()
            is_star = self.form.startswith("*", self.at)
            precision, more = self._number("%!(BADPREC)", of_width=False)
            complaint += more
            if not is_star:
                precision = precision or 0
            elif precision is not None and precision < 0:
                precision, complaint = None, complaint + "%!(BADPREC)"
        if not self.is_after_index:
            self._index()
        if self.at >= len(self.form):
            return complaint + "%!(NOVERB)"
        verb = self.form[self.at]
        self.at += 1
        return complaint + self._written(verb, Shape(flags=flags, width=width, precision=precision))

    def _written(self, verb: str, shape: Shape) -> str:
        if verb == "%":
            return "%"
        if not self.is_index_good:
            return f"%!{verb}(BADINDEX)"
        if self.argument >= len(self.values):
            return f"%!{verb}(MISSING)"
        value = self.values[self.argument]
        self.argument += 1
        if verb == "T":
            return shape.padded("<nil>" if value is None else type_of(value))
        if verb == "v":  # %+v and %#v are about structs, not signs
            shape = replace(shape, flags=shape.flags.replace("+", ""))
        return format_value(value, verb, shape)

    def _match(self, shape: re.Pattern[str]) -> str:
        found = shape.match(self.form, self.at)
        text = found.group() if found else ""
        self.at += len(text)
        return text

    def _number(self, complaint: str, *, of_width: bool) -> tuple[int | None, str]:
        """Read a width or precision, as digits or from the arguments with `*`."""
        if self.form.startswith("*", self.at):
            self.at += 1
            self.is_after_index = False
            value = self.values[self.argument] if self.argument < len(self.values) else None
            self.argument = min(self.argument + 1, len(self.values))
            is_number = (
                isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_NUMBER
            )
            return (value, "") if is_number else (None, complaint)
        digits = self._match(_NUMBER)
        if digits and of_width and self.is_after_index:
            self.is_index_good = False
        if len(digits) > 7 or (digits and int(digits) > LARGEST_NUMBER * 10):
            self.at = len(self.form)  # as in Go, the rest of the format is dropped
            return None, ""
        return (int(digits) if digits else None), ""

    def _index(self) -> None:
        """Read `[2]`: the number of the next argument, counted from 1."""
        self.is_after_index = False
        if not self.form.startswith("[", self.at):
            return
        self.is_reordered = True
        if found := _INDEX.match(self.form, self.at):
            self.at = found.end()
            self.is_after_index = True
            if 1 <= int(found[1]) <= len(self.values):
                self.argument = int(found[1]) - 1
                return
        else:
            closing = self.form.find("]", self.at)
            self.at = closing + 1 if closing >= 0 else self.at + 1
        self.is_index_good = False
