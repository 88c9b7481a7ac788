"""Go's text/template as Prometheus renders it in labels and annotations."""

from go_templates.humanizing import humanize_duration, humanize_percentage
from go_templates.template import Template, parse
from go_templates.template_errors import RenderError, TemplateError
from go_templates.values import TemplateSample

__all__ = [
    "RenderError",
    "Template",
    "TemplateError",
    "TemplateSample",
    "humanize_duration",
    "humanize_percentage",
    "parse",
]
