"""Cards and thread replies that incidents call for, as neutral messages that any channel can render."""
