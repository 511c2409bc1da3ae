# SPDX-License-Identifier: Apache-2.0
"""What the site has beside the pages of this folder: the project's own papers, and the public names of the library by meaning."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PROJECT = {
    "papers.md": "PAPERS.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "code_of_conduct.md": "CODE_OF_CONDUCT.md",
    "security.md": "SECURITY.md",
}
API = {
    "Commands": {
        "What the command line does, as functions. Each returns a value with words (`str(result)`) and a document (`result.to_dict()`).": (
            "init FirstRecipe risk Exposure run Outcome DpOutcome ScaledOutcome anonymize Anonymized check Checked compare Comparison audit Audited distinguish "
            "Distinguished disclose Disclosed budget Account explain Explained Terms schema RecipeSchema Recipe read_recipe samples"
        )
    },
    "Tables and hierarchies": {
        "From files, databases and frames to a table whose columns have roles.": (
            "read_file read_database read_frame read_external Table Column Kind Role Hierarchy Levels Prefixes Intervals CutPoints "
            "Quantiles Dates Icd10 Nested Flat"
        )
    },
    "Goals": {
        "What must hold of a release. Goals are combined with `&`.": (
            "KAnonymity AlphaKAnonymity FrequencyLDiversity DistinctLDiversity EntropyLDiversity RecursiveCLDiversity TCloseness "
            "DeltaDisclosure BasicBetaLikeness EnhancedBetaLikeness RelativeRisk AllOf"
        )
    },
    "Methods": {
        "How a release is made: a value with a goal and parameters, and `anonymize`.": (
            "BlindBuckets ByColumns Halvings StrataTree grow_strata Anatomy Dealing RDA RIA BatchMatching GDA CrossBucket InOrder "
            "Mondrian FullDomain find_minimal_nodes RecordThreshold RecordLagrangian External plane_of_record plane_of_table "
            "DpCube DpSampling DpFullDomain secret_generator"
        )
    },
    "Releases": {
        "What a method returns, and how it is published and reported.": (
            "Release GeneralizedRelease FullDomainRelease RecordRelease BucketRelease CrossBucketRelease ShuffledRelease DpRelease "
            "Groups Partition publish owner_view write_database BucketTables make_report"
        )
    },
    "Checks": {"Whether files are what they claim to be.": "check_release Claim Verdict Finding"},
    "Adversaries": {
        "What somebody learns who knows the method, the correlations, several releases, or nothing but the cells.": (
            "audit_release audit_columns Audit Knowledge audit_other LeastCost FirstOnPath MedianCuts audit_together Together learn "
            "Learned downcode Downcoding"
        )
    },
    "Measurements and estimates": {
        "What a release costs, what risk remains, and what analysts can compute from it.": (
            "measure_utility certainty_penalty discernibility optimal_discernibility risk_of_table risk_of_release find_uniques "
            "open_release PublishedRelease estimate"
        )
    },
    "Errors": {
        "Every exception that Overt raises on purpose.": (
            "OvertError InvalidInput InvalidData Unreachable TooLarge NothingReleased MissingExtra Stuck Cancelled Caution"
        )
    },
}
STUB = (ROOT / "src/overt/__init__.pyi").read_text("utf-8")
HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+) as \2$", STUB, re.MULTILINE)}


def names_of_api() -> list[str]:
    """The public names, as the page has them."""
    return [name for part in API.values() for names in part.values() for name in names.split()]


def page_of_api() -> str:
    """All public names by meaning, each with its signature and its documentation."""
    lines = ["# The library, name by name", "", "`import overt` has these names and no others.", ""]
    for heading, part in API.items():
        for words, names in part.items():
            lines += [f"## {heading}", "", words, ""]
            for name in names.split():
                home = f"overt.{name}" if HOMES[name] == "overt" else f"{HOMES[name]}.{name}"
                lines += [f"::: {home}", ""]
    return "\n".join(lines)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made or that lie elsewhere."""
    from mkdocs.structure.files import File

    for page, path in PROJECT.items():
        text = re.sub(r"\]\(docs/", "](", (ROOT / path).read_text("utf-8"))
        text = re.sub(r"\]\((\w+)\.md", lambda found: f"]({found[1].lower()}.md", text)
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference/api.md", content=page_of_api()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to the project's own papers lead to their pages here."""
    for to, path in PROJECT.items():
        markdown = re.sub(rf"\]\(((?:\.\./)*)\.\./{path}", rf"](\g<1>{to}", markdown)
    return markdown
