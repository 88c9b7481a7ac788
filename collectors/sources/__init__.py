"""Sources, one per system. Each maps its library's errors to a `SourceError` or a `Blind`."""
