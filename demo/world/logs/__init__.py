"""This package turns what happens into log lines, and lines into the documents that Filebeat ships."""
