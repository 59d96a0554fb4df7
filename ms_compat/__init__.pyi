"""What `import ms_compat` offers; see the modules for the documentation."""

from ms_compat.build import Build as Build
from ms_compat.build import find_build as find_build
from ms_compat.comparison import compare as compare
from ms_compat.errors import CacheWarning as CacheWarning
from ms_compat.errors import DriftWarning as DriftWarning
from ms_compat.errors import FeatureError as FeatureError
from ms_compat.errors import FeatureWarning as FeatureWarning
from ms_compat.errors import MsCompatError as MsCompatError
from ms_compat.errors import MsCompatWarning as MsCompatWarning
from ms_compat.errors import RecomputeError as RecomputeError
from ms_compat.errors import SettingError as SettingError
from ms_compat.errors import SnapshotError as SnapshotError
from ms_compat.errors import UnknownFeatureError as UnknownFeatureError
from ms_compat.errors import UnknownGroupError as UnknownGroupError
from ms_compat.errors import UnknownVerdictError as UnknownVerdictError
from ms_compat.feature import ApiMissing as ApiMissing
from ms_compat.feature import Feature as Feature
from ms_compat.feature import Finding as Finding
from ms_compat.feature import Harm as Harm
from ms_compat.feature import Path as Path
from ms_compat.feature import Remedy as Remedy
from ms_compat.measurement import Answer as Answer
from ms_compat.moved import pynative_executor as pynative_executor
from ms_compat.registry import Features as Features
from ms_compat.registry import features as features
from ms_compat.registry import requires as requires
from ms_compat.shims.callbacks import queue_backward_final_callback as queue_backward_final_callback
from ms_compat.shims.communication import all_reduce_mean as all_reduce_mean
from ms_compat.shims.defaults import recompute_defaults as recompute_defaults
from ms_compat.shims.function import Function as Function
from ms_compat.shims.gradients import grad as grad
from ms_compat.shims.gradients import value_and_grad as value_and_grad
from ms_compat.shims.hooks import register_hook as register_hook
from ms_compat.shims.inplace import add_ as add_
from ms_compat.shims.inplace import div_ as div_
from ms_compat.shims.inplace import mul_ as mul_
from ms_compat.shims.inplace import sub_ as sub_
from ms_compat.shims.inplace import write_ as write_
from ms_compat.shims.parameters import to_empty as to_empty
from ms_compat.shims.recompute import checkpoint as checkpoint
from ms_compat.shims.recompute import recompute as recompute
from ms_compat.shims.recording import autodiff_engine_id as autodiff_engine_id
from ms_compat.shims.recording import grad_recording as grad_recording
from ms_compat.shims.recording import is_recomputing as is_recomputing
from ms_compat.shims.saved_tensors import detach_saved_tensors as detach_saved_tensors
from ms_compat.shims.saved_tensors import saved_tensors_hooks as saved_tensors_hooks
from ms_compat.shims.stash import ForwardStash as ForwardStash
from ms_compat.shims.versions import preserve_version_counter as preserve_version_counter
from ms_compat.shims.versions import version as version
from ms_compat.span import Span as Span
from ms_compat.verdict import Plan as Plan
from ms_compat.verdict import Source as Source
from ms_compat.verdict import Verdict as Verdict

__version__: str
__all__ = [
    "Answer",
    "ApiMissing",
    "Build",
    "CacheWarning",
    "DriftWarning",
    "Feature",
    "FeatureError",
    "FeatureWarning",
    "Features",
    "Finding",
    "ForwardStash",
    "Function",
    "Harm",
    "MsCompatError",
    "MsCompatWarning",
    "Path",
    "Plan",
    "RecomputeError",
    "Remedy",
    "SettingError",
    "SnapshotError",
    "Source",
    "Span",
    "UnknownFeatureError",
    "UnknownGroupError",
    "UnknownVerdictError",
    "Verdict",
    "add_",
    "all_reduce_mean",
    "autodiff_engine_id",
    "checkpoint",
    "compare",
    "detach_saved_tensors",
    "div_",
    "features",
    "find_build",
    "grad",
    "grad_recording",
    "is_recomputing",
    "mul_",
    "preserve_version_counter",
    "pynative_executor",
    "queue_backward_final_callback",
    "recompute",
    "recompute_defaults",
    "register_hook",
    "requires",
    "saved_tensors_hooks",
    "sub_",
    "to_empty",
    "value_and_grad",
    "version",
    "write_",
]
