"""What `import ms_compat` offers; see the modules for the documentation."""

from ms_compat.build import Build as Build
from ms_compat.build import find_build as find_build
from ms_compat.errors import CacheWarning as CacheWarning
from ms_compat.errors import DriftWarning as DriftWarning
from ms_compat.errors import FeatureError as FeatureError
from ms_compat.errors import FeatureWarning as FeatureWarning
from ms_compat.errors import MsCompatError as MsCompatError
from ms_compat.errors import MsCompatWarning as MsCompatWarning
from ms_compat.errors import SettingError as SettingError
from ms_compat.errors import SnapshotError as SnapshotError
from ms_compat.errors import UnknownFeatureError as UnknownFeatureError
from ms_compat.errors import UnknownVerdictError as UnknownVerdictError
from ms_compat.feature import ApiMissing as ApiMissing
from ms_compat.feature import Feature as Feature
from ms_compat.feature import Finding as Finding
from ms_compat.feature import Harm as Harm
from ms_compat.feature import Path as Path
from ms_compat.feature import Remedy as Remedy
from ms_compat.measurement import Answer as Answer
from ms_compat.registry import Features as Features
from ms_compat.registry import features as features
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
    "Harm",
    "MsCompatError",
    "MsCompatWarning",
    "Path",
    "Plan",
    "Remedy",
    "SettingError",
    "SnapshotError",
    "Source",
    "Span",
    "UnknownFeatureError",
    "UnknownVerdictError",
    "Verdict",
    "features",
    "find_build",
]
