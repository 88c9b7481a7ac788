"""The TLS context of a source, from files that may be rotated."""

import os
import ssl

from collectors.sources.prometheus.options import PrometheusOptions


class TlsFiles:
    """Builds the context, and builds it anew when one of its files changes: later connections use the new one."""

    def __init__(self, options: PrometheusOptions) -> None:
        self._options = options
        self._files = [file for file in (options.ca_file, options.cert_file, options.key_file) if file]
        self._stamps: list[tuple[int, int]] = []
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """Return the current context. Raises OSError, with the name of a file that is missing, or ssl.SSLError."""
        stamps = [(status.st_mtime_ns, status.st_size) for status in map(os.stat, self._files)]
        if self._context is None or stamps != self._stamps:
            self._context, self._stamps = self._read(), stamps
        return self._context

    def _read(self) -> ssl.SSLContext:
        options = self._options
        context = ssl.create_default_context(cafile=options.ca_file or None)
        if options.insecure and not options.ca_file:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if options.cert_file:
            context.load_cert_chain(options.cert_file, options.key_file or None)
        return context
