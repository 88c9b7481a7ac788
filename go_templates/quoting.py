"""Quoting as in Go: %q, and the escapes of HTML, JavaScript and URLs."""

from urllib.parse import quote_plus

_SHORT = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
}
_HTML = str.maketrans({"\0": "\ufffd", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_JAVASCRIPT = {**{"\\": "\\\\", "'": "\\'", '"': '\\"'}, **{char: f"\\u{ord(char):04X}" for char in "<>&="}}


def quoted(text: str, *, raw: bool = False) -> str:
    """Return a Go string literal; in backquotes if `raw` and possible."""
    if raw and "`" not in text and all(char.isprintable() or char == "\t" for char in text):
        return f"`{text}`"
    return '"' + "".join(_escaped(char, '"') for char in text) + '"'


def quoted_character(char: str) -> str:
    return "'" + _escaped(char, "'") + "'"


def _escaped(char: str, quote: str) -> str:
    if char == quote:
        return "\\" + char
    if char in _SHORT:
        return _SHORT[char]
    if char.isprintable():
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def html(text: str) -> str:
    return text.translate(_HTML)


def javascript(text: str) -> str:
    out = []
    for char in text:
        if char in _JAVASCRIPT:
            out.append(_JAVASCRIPT[char])
        else:
            out.append(char if char.isprintable() else f"\\u{ord(char):04X}")
    return "".join(out)


def url_query(text: str) -> str:
    return quote_plus(text, safe="", errors="replace")
