"""What secrets look like, by kind: the data of the redactor, and how a value is judged."""
