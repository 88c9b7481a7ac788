"""The words of rules: Go's text/template as Prometheus uses it for labels and annotations."""

from alerts.templates.template import Template, parse
from alerts.templates.template_errors import TemplateError

__all__ = ["Template", "TemplateError", "parse"]
