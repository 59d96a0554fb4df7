"""A library that needs a gelu on whatever MindSpore and device there is."""
