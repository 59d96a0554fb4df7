"""The catalog: one file per feature, named like the feature, each with a ``FEATURE``."""
