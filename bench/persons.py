# SPDX-License-Identifier: Apache-2.0
"""`python -m bench persons`: what it costs to protect persons with several rows, on the sample of hospital discharges."""

import time

import numpy as np

import overt
from overt.metrics.utility import measure_utility

STATIC, VARYING = ["Birth date", "Sex", "ZIP"], ["Admitted"]


def run() -> None:
    """Print penalty and processor seconds with one row per person, whole bundles, and visits known or not."""
    frame = overt.samples.discharges()
    print(
        "discharges: 20,000 rows of 17,500 persons; 3-diversity of Diagnosis, k = 5; processor seconds to plan, deal and cut"
    )
    print("| known | keep | form | persons | rows | mean certainty penalty | seconds |")
    print("|---|---|---|---|---|---|---|")
    for known, keep in (("visits", 1), ("static", "all"), ("visits", 3)):
        for form in ("buckets", "generalized"):
            with_visits = known == "visits"
            table = overt.read_frame(
                frame,
                quasi_identifiers=[*STATIC, *(VARYING if with_visits else [])],
                sensitive=["Diagnosis"],
                date_formats={"Birth date": ["%d.%m.%Y", "%Y-%m-%d"]}
                | ({"Admitted": "%d.%m.%Y"} if with_visits else {}),
                kinds={"ZIP": "category"},
                hierarchies={"ZIP": overt.Prefixes(lengths=(4, 3, 2))},
                others=(),
                person="Patient ID",
                keep=keep,
                known=known,
                varies=VARYING if with_visits else [],
                key=1,
            )
            method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(3), k=5, form=form)
            method.anonymize(table, rng=np.random.default_rng(1))  # compiles
            began = time.process_time()
            release = method.anonymize(table, rng=np.random.default_rng(1))
            seconds = time.process_time() - began
            n_rows = measure_utility(release)
            rows = (
                table.n_rows
                if not table.has_bundles
                else int(sum(c.bundles.lengths[c.codes].sum() for c in table.sensitive if c.bundles))
            )
            print(
                f"| {known} | {keep} | {form} | {table.n_rows:,} | {rows:,} | {n_rows.certainty_penalty:.3f} | {seconds:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    run()
