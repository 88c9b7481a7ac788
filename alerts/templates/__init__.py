"""The words of rules: Go's text/template as Prometheus uses it for labels and annotations."""

from alerts.templates.errors import TemplateError
from alerts.templates.template import Template, parse

__all__ = ["Template", "TemplateError", "parse"]
