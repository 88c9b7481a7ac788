"""Instance names without port or domain, parsed as by Go's net package."""

from ipaddress import ip_address


def without_port(text: str) -> str:
    """Return the host of `host:port` or `[v6]:port`, or the text itself if it is neither."""
    parts = _split(text)
    return text if parts is None else parts[0]


def without_domain(text: str) -> str:
    """Shorten `node-1.rack.example:9100` to `node-1:9100`; IP addresses stay unchanged."""
    host, port = _split(text) or (text, "")
    if _is_address(host):
        return text
    short = host.split(".")[0]
    if not port:
        return short
    return f"[{short}]:{port}" if ":" in short or "%" in short else f"{short}:{port}"


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _split(text: str) -> tuple[str, str] | None:
    colon = text.rfind(":")
    if colon < 0:
        return None
    if text.startswith("["):
        end = text.find("]")
        if end < 0 or end + 1 != colon or "[" in text[1:] or "]" in text[end + 1 :]:
            return None
        return text[1:end], text[colon + 1 :]
    if ":" in text[:colon] or "[" in text or "]" in text:
        return None
    return text[:colon], text[colon + 1 :]
