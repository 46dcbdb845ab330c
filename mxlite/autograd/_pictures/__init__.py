"""The recorded graph, shown: as plain data, text, a picture, or a file of a symbol."""
