"""Finds private names of MindSpore that moved between releases (`executor_in_graph_api`).

The one place where probes and shims look them up; MindSpore is imported by the calls, not by this module.
"""

from __future__ import annotations

import functools
import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["compiled", "graph_api", "no_grad", "pynative_executor", "saved_tensors_hooks_class"]


@functools.cache
def graph_api() -> ModuleType:
    """The module with the PyNative executor and its contexts: ``mindspore.graph.api`` from 2.9, else ``common.api``.

    On 2.9 and newer the former place still works, but prints a deprecation line when it is imported.
    """
    try:
        return importlib.import_module("mindspore.graph.api")
    except ModuleNotFoundError as error:
        if error.name not in {"mindspore.graph", "mindspore.graph.api"}:
            raise
        return importlib.import_module("mindspore.common.api")


def pynative_executor() -> Any:
    """MindSpore's ``_pynative_executor``, wherever this release keeps it."""
    return graph_api()._pynative_executor


def no_grad() -> Any:
    """A new ``_no_grad`` context, wherever this release keeps the class."""
    return graph_api()._no_grad()


def saved_tensors_hooks_class() -> Any:
    """MindSpore's ``saved_tensors_hooks``, or None where it does not exist (before 2.7.2)."""
    return getattr(graph_api(), "saved_tensors_hooks", None)


def compiled(name: str) -> Any:
    """A name of the compiled extension ``mindspore._c_expression``.

    Raises:
        AttributeError: this release has no such name.
    """
    return getattr(importlib.import_module("mindspore._c_expression"), name)
