# SPDX-License-Identifier: Apache-2.0
"""Names of tables in a catalog."""

import pytest

from overt.errors import InvalidInput
from overt.io.catalog_table import CatalogTable


@pytest.mark.parametrize(
    "text", ["", "a.b.c.d", "a..b", "clinic.the release", "clinic.`a`", "x; DROP TABLE y", "a.b\n"]
)
def test_a_name_that_some_catalog_would_not_take_is_refused(text):
    with pytest.raises(InvalidInput, match="no name of a table"):
        CatalogTable.parse(text)


def test_two_names_of_one_table_are_known_as_far_as_they_say():
    table = CatalogTable.parse("clinic.Release")
    assert table.quoted == "`clinic`.`Release`"
    assert table.database == ("clinic",)
    for other in ("release", "CLINIC.release", "cat.clinic.`release`"):
        assert table.is_same(other), other
    for other in ("clinic.visits", "ward.release"):
        assert not table.is_same(other), other
