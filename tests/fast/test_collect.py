from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ms_compat import catalog, collect
from ms_compat.collect import Collection
from ms_compat.errors import MsCompatWarning, UnknownFeatureError
from tests.house import NAMES
from tests.standin import write_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY = """\
from ms_compat import Feature, Finding, Harm, Path, Remedy

FEATURE = Feature(
    name={name!r}, question="?", matters="m", harm=Harm.FAILS, symptom="s", probe=lambda: Finding(True, "yes"),
    remedy=Remedy(path=Path.WARN, action="a", cost="c"), groups=("g",), spans=(), references=("r",),
)
"""


@pytest.fixture
def contribute(site: Path, house: None) -> Callable[..., None]:
    """Installs a package whose entry points name features."""

    def install(package: str, points: dict[str, str], **modules: str) -> None:
        for name, code in modules.items():
            (site / f"{name}.py").write_text(code)
        lines = [f"{name} = {value}" for name, value in points.items()]
        text = "\n".join([f"[{collect.ENTRY_POINT_GROUP}]", *lines])
        (write_metadata(site, package, "1.0") / "entry_points.txt").write_text(text)

    return install


def write_house(root: Path, name: str) -> None:
    """Write a house with a catalog of one feature, ``floats``."""
    for folder in (root / name / "catalog", root / name / "probing"):
        folder.mkdir(parents=True)
    for package in (root / name, root / name / "catalog"):
        (package / "__init__.py").write_text("")
    (root / name / "probing" / "means.py").write_text("# how it is measured")
    (root / name / "catalog" / "floats.py").write_text(ENTRY.format(name="floats"))


def move_into(name: str, monkeypatch: pytest.MonkeyPatch) -> Collection:
    monkeypatch.setattr(collect, "catalog", __import__(f"{name}.catalog").catalog)
    return Collection()


@pytest.mark.usefixtures("house")
class TestTheCatalog:
    def test_has_a_feature_for_every_file(self) -> None:
        assert Collection().names() == NAMES

    def test_gives_a_feature_and_where_it_is_defined(self) -> None:
        collection = Collection()
        assert collection.load("frees_memory").name == "frees_memory"
        assert collection.load("frees_memory") is collection.load("frees_memory")
        assert collection.location("frees_memory") == "tests.house.catalog.frees_memory:FEATURE"

    @pytest.mark.parametrize("ask", [Collection.load, Collection.location, Collection.digest])
    def test_offers_the_nearest_names_for_a_misspelt_one(self, ask: Callable[[Collection, str], object]) -> None:
        with pytest.raises(UnknownFeatureError, match=r"no feature 'frees_memry'; did you mean frees_memory\?"):
            ask(Collection(), "frees_memry")

    def test_names_the_listing_where_nothing_is_near(self) -> None:
        with pytest.raises(UnknownFeatureError, match="'ms-compat list' shows all names"):
            Collection().load("zzz")

    def test_checks_names_without_loading_them(self) -> None:
        collection = Collection()
        collection.check(NAMES)
        with pytest.raises(UnknownFeatureError):
            collection.check(["frees_memory", "zzz"])

    def test_needs_no_entry_points_for_its_own_features(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "importlib_metadata", None)
        collection = Collection()
        assert collection.load("frees_memory")
        assert collection.digest("frees_memory")


def test_the_real_catalog_is_where_the_features_come_from() -> None:
    files = {file.stem for file in Path(str(catalog.__file__)).parent.glob("[!_]*.py")}
    assert files <= set(Collection().names())


@pytest.mark.parametrize(
    ("name", "code", "complaint"),
    [
        ("sinks", ENTRY.format(name="floats"), "named 'floats' inside, but 'sinks' outside"),
        ("sinks", "FEATURE = 'floats'", "expected a ms_compat.Feature, found str"),
    ],
)
def test_a_catalog_file_that_does_not_hold_its_feature_is_an_error(
    site: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, complaint: str
) -> None:
    write_house(site, "hut")
    (site / "hut" / "catalog" / f"{name}.py").write_text(code)
    with pytest.raises((TypeError, ValueError), match=complaint):
        move_into("hut", monkeypatch).load(name)


class TestADigest:
    CODE = (
        "import sys; from ms_compat import collect; import hut.catalog; collect.catalog = hut.catalog;"
        "sys.stdout.write(collect.Collection().digest('floats'))"
    )

    def digest(self, site: Path) -> str:
        path = [str(site), *sys.path]
        code = f"import sys; sys.path[:] = {path!r}; {self.CODE}"
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    def test_stays_the_same_from_process_to_process(self, site: Path) -> None:
        write_house(site, "hut")
        assert self.digest(site) == self.digest(site) != ""

    @pytest.mark.parametrize("file", ["catalog/floats.py", "probing/means.py"])
    def test_changes_with_what_measures_the_feature(self, site: Path, file: str) -> None:
        write_house(site, "hut")
        before = self.digest(site)
        with (site / "hut" / file).open("a") as changed:
            changed.write("# changed\n")
        assert self.digest(site) != before

    def test_does_not_change_with_another_feature(self, site: Path) -> None:
        write_house(site, "hut")
        before = self.digest(site)
        (site / "hut" / "catalog" / "sinks.py").write_text(ENTRY.format(name="sinks"))
        assert self.digest(site) == before

    def test_is_there_for_a_feature_that_lies_in_no_file(
        self, contribute: Callable[..., None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        contribute("raft", {"floats": "raft:FEATURE"}, raft=ENTRY.format(name="floats") + "del __file__\n")
        assert len(Collection().digest("floats")) == 16


class TestAContributedFeature:
    def test_is_one_like_any_other(self, contribute: Callable[..., None]) -> None:
        contribute("raft", {"floats": "raft:FEATURE"}, raft=ENTRY.format(name="floats"))
        collection = Collection()
        assert "floats" in collection.names()
        assert collection.load("floats").name == "floats"
        assert collection.location("floats") == "raft:FEATURE"

    @pytest.mark.parametrize(
        ("value", "code", "complaint"),
        [
            ("raft:FEATURE", "1 / 0", "raft:FEATURE cannot be used: ZeroDivisionError"),
            ("raft:FEATURE", "", "AttributeError"),
            ("no_raft:FEATURE", "", "ModuleNotFoundError"),
            ("raft:FEATURE", "FEATURE = 3", "expected a ms_compat.Feature, found int"),
            ("raft:FEATURE", ENTRY.format(name="sinks"), "named 'sinks' inside, but 'floats' outside"),
        ],
    )
    def test_that_is_broken_costs_itself_and_one_warning(
        self, contribute: Callable[..., None], value: str, code: str, complaint: str
    ) -> None:
        contribute("raft", {"floats": value}, raft=code)
        collection = Collection()
        with pytest.warns(MsCompatWarning, match=f"contributed feature 'floats': .*{complaint}") as caught:
            assert collection.names() == NAMES
        assert collection.names() == NAMES
        assert len(caught) == 1

    def test_cannot_take_the_name_of_a_built_in_one(self, contribute: Callable[..., None]) -> None:
        contribute("raft", {"frees_memory": "raft:FEATURE"}, raft=ENTRY.format(name="frees_memory"))
        collection = Collection()
        with pytest.warns(MsCompatWarning, match="its name is taken, raft:FEATURE is ignored"):
            assert collection.names() == NAMES
        assert collection.location("frees_memory").startswith("tests.house")

    def test_cannot_take_the_name_of_another_packages(self, contribute: Callable[..., None]) -> None:
        code = ENTRY.format(name="floats")
        contribute("boat", {"floats": "boat:FEATURE"}, boat=code)
        contribute("raft", {"floats": "raft:FEATURE"}, raft=code)
        collection = Collection()
        with pytest.warns(MsCompatWarning, match="'floats': its name is taken"):
            assert collection.location("floats") in {"boat:FEATURE", "raft:FEATURE"}

    def test_that_two_installations_of_one_package_name_is_taken_once(self, contribute: Callable[..., None]) -> None:
        contribute("raft", {"floats": "raft:FEATURE"}, raft=ENTRY.format(name="floats"))
        contribute("raft_fork", {"floats": "raft:FEATURE"})
        assert Collection().names() == tuple(sorted([*NAMES, "floats"]))
