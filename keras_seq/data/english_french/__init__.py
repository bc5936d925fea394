"""A small English and its French: words, forms, and sentences in both."""
