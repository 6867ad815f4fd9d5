"""A memory as a file: taken away whole, in lines that are brought back as they were, or as a page for reading."""
