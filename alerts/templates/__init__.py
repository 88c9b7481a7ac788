"""Templates of labels and annotations: Go's text/template as Prometheus uses it."""

from alerts.templates.template import Template, parse
from alerts.templates.template_errors import TemplateError

__all__ = ["Template", "TemplateError", "parse"]
