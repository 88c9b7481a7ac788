"""Log lines of world events, and the documents that Filebeat ships."""
