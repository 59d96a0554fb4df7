"""Measuring the real MindSpore: the runner and its child, and what probes measure with."""
