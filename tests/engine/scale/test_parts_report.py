# SPDX-License-Identifier: Apache-2.0
"""The public report of a release in parts: what the report of one machine says of the same published lines, counted in parts."""

import json
from fractions import Fraction

import polars as pl
import pytest

import overt
from overt.engine.scale.engine_choice import engine_of
from overt.engine.scale.group_measures import GroupMeasures, number_of
from overt.engine.scale.local import LocalEngine
from overt.engine.scale.parts_report import report_of_parts
from overt.engine.scale.scaled_run import published_at
from overt.engine.scale.seam import n_fragments_of
from overt.io.manifest import read_manifest
from overt.io.private_folder import PrivateFolder
from overt.io.reader_view import release_as_read
from overt.io.recipe.recipe import read_recipe
from overt.report.public import make_public_report
from scales import METHODS, RECIPE, read_parts, write_people

QUASI = ["Age", "Gender", "Education"]
SAID_OF_THE_RUN = {"release", "created", "files", "versions", "recipe"}
BY_BUCKET = {"goal", "not_promised", "attribute_disclosure", "rare_values", "verdict"}


@pytest.fixture(params=[400, 10_000], ids=["many fragments", "one fragment"], autouse=True)
def fragments(request, monkeypatch):
    """Engines whose fragments are small, so that a small table has several."""
    made = classmethod(lambda cls, folder=None: cls(PrivateFolder(folder), 350, request.param))
    monkeypatch.setattr(LocalEngine, "out_of_core", made)
    return request.param


def run(folder, method, ending):
    write_people(folder, ending=ending)
    path = folder / "recipe.toml"
    path.write_text(RECIPE.format(input=ending, method=METHODS[method], output=ending, more=""))
    outcome = overt.run(path, engine="out-of-core", report=True)
    assert outcome.ok
    release = folder / f"release.{ending}"
    parts = {place.name: read_parts(place) for place in sorted(release.iterdir()) if place.is_dir()}
    read = release_as_read(parts, made_by=read_recipe(path).method, quasi_identifiers=QUASI, sensitive=["Occupation"])
    alone = make_public_report(read, goal=read_recipe(path).goal, identifiers=["Name"]).to_dict()
    return json.loads((release / "report.json").read_text()), alone, parts, release


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_of_groups_it_says_what_one_machine_says(ending, fragments, tmp_path):
    found, alone, _, release = run(tmp_path, "mondrian", ending)
    for name in alone.keys() - SAID_OF_THE_RUN:
        assert found[name] == json.loads(json.dumps(alone[name])), name
    with engine_of("out-of-core") as engine:
        assert (n_fragments_of(engine, 900) > 1) == (fragments == 400)
    page = (release / "report.html").read_text()
    assert "people in the smallest group" in page
    assert overt.check(tmp_path / f"people.{ending}", release).ok


def test_of_buckets_values_are_judged_in_the_worst_bucket(tmp_path):
    found, alone, parts, _ = run(tmp_path, "blind-buckets", "parquet")
    for name in alone.keys() - SAID_OF_THE_RUN - BY_BUCKET:
        assert found[name] == json.loads(json.dumps(alone[name])), name
    (learnt,) = found["attribute_disclosure"]
    sizes = parts["sensitive"].group_by("bucket").len()
    most = parts["sensitive"].group_by("bucket", "Occupation").len().group_by("bucket").agg(most=pl.col("len").max())
    share = sizes.join(most, on="bucket").select(share=pl.col("most") / pl.col("len"))["share"]
    assert learnt["worst"] == pytest.approx(share.max())
    assert learnt["best_guess"] == pytest.approx(most["most"].sum() / sizes["len"].sum())
    assert (
        learnt["worst"] >= alone["attribute_disclosure"][0]["worst"]
    )  # who knows the bucket concludes at least as much
    assert all(goal["holds"] for goal in found["goal"])


def test_it_is_a_function_of_what_is_published(tmp_path):
    _, _, _, release = run(tmp_path, "blind-buckets", "parquet")
    recipe, said = read_recipe(tmp_path / "recipe.toml"), []
    frame = pl.read_parquet(tmp_path / "people.parquet")
    other = frame.with_columns(
        pl.col("Age") + 0.25, pl.col("Occupation").cast(pl.String) + " Goldammer", Education=pl.lit("none")
    )
    records = read_manifest(release / "manifest.json").release
    for original in (frame, other):  # whatever table the parts were made from
        table = overt.read_frame(original, quasi_identifiers=QUASI, sensitive=["Occupation"], identifiers=["Name"])
        with engine_of("out-of-core", staging=str(tmp_path)) as engine:
            files = report_of_parts(engine, recipe, published_at(release, table.columns, recipe, ","), records)
        said.append(json.loads(files["report.json"]) | {"created": ""})
        assert "Kanarienvogel" not in files["report.html"].decode()
        assert "people.parquet" not in files["report.html"].decode()
    assert said[0] == said[1]


def test_measures_of_fragments_are_put_together_exactly():
    lines = [
        ("size", 0, "3 2"),
        ("size", 0, "5 1"),
        ("learnt", 0, "0 0 1 3 4"),
        ("broken", 0, "0"),
        ("size", 0, "3 1"),
        ("learnt", 0, "3 1 1 1 3"),
        ("broken", 0, "1"),
        ("goal", 0, "0 3"),
        ("goal", 0, "1 Fraction(5,2)"),
    ]
    frame = pl.DataFrame(lines, schema={"what": pl.String, "part": pl.Int32, "numbers": pl.String}, orient="row")
    found = GroupMeasures.of(frame, ["x"], overt.FrequencyLDiversity(3))
    assert (found.n_rows, found.n_groups, found.least, found.squares) == (14, 4, 3, 52)
    assert found.learnt["x"] == (3, 1, Fraction(1), 7)
    assert (found.n_broken, found.goals[0].n_broken, found.goals[0].described) == (1, 1, "l = 2.5")
    assert [number_of(text) for text in ("3", "Fraction(1,3)", "np.float64(0.5)", "inf")] == [
        3,
        Fraction(1, 3),
        0.5,
        float("inf"),
    ]
