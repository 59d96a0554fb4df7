"""Ask the installed MindSpore what it really does, and take the right path.

``from ms_compat import features`` is the door. Importing this package imports nothing: neither MindSpore nor the rest
of the package, each part of which is loaded when it is first used.
"""

_HOMES = {
    "Answer": "measurement",
    "ApiMissing": "feature",
    "Build": "build",
    "Feature": "feature",
    "Features": "registry",
    "Finding": "feature",
    "Harm": "feature",
    "Path": "feature",
    "Plan": "verdict",
    "Remedy": "feature",
    "Source": "verdict",
    "Span": "span",
    "Verdict": "verdict",
    "features": "registry",
    "requires": "registry",
    "find_build": "build",
    "ForwardStash": "shims.stash",
    "Function": "shims.function",
    "add_": "shims.inplace",
    "all_reduce_mean": "shims.communication",
    "autodiff_engine_id": "shims.recording",
    "checkpoint": "shims.recompute",
    "compare": "comparison",
    "detach_saved_tensors": "shims.saved_tensors",
    "div_": "shims.inplace",
    "grad": "shims.gradients",
    "grad_recording": "shims.recording",
    "is_recomputing": "shims.recording",
    "mul_": "shims.inplace",
    "preserve_version_counter": "shims.versions",
    "pynative_executor": "moved",
    "queue_backward_final_callback": "shims.callbacks",
    "recompute": "shims.recompute",
    "recompute_defaults": "shims.defaults",
    "register_hook": "shims.hooks",
    "saved_tensors_hooks": "shims.saved_tensors",
    "sub_": "shims.inplace",
    "to_empty": "shims.parameters",
    "value_and_grad": "shims.gradients",
    "version": "shims.versions",
    "write_": "shims.inplace",
    "CacheWarning": "errors",
    "DriftWarning": "errors",
    "FeatureError": "errors",
    "FeatureWarning": "errors",
    "MsCompatError": "errors",
    "MsCompatWarning": "errors",
    "RecomputeError": "errors",
    "SettingError": "errors",
    "SnapshotError": "errors",
    "UnknownFeatureError": "errors",
    "UnknownGroupError": "errors",
    "UnknownVerdictError": "errors",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605 - the stub states it for type checkers


def __getattr__(name):  # type: ignore[no-untyped-def]
    import importlib

    if name in _HOMES:
        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
        value = getattr(home, name)
        if name == "recompute":
            # Not kept: importing MindSpore may make it MindSpore's own.
            return home.native_recompute() or value
    elif name == "__version__":
        import importlib_metadata

        value = importlib_metadata.version("ms-compat")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():  # type: ignore[no-untyped-def]
    return sorted({*globals(), *__all__})
