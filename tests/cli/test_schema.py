# SPDX-License-Identifier: Apache-2.0
import json

from overt.algorithms import METHODS
from overt.privacy import PROPERTIES


def test_the_schema_names_every_property_and_method(overt):
    code, out, err = overt("schema")
    schema = json.loads(out)
    assert (code, err) == (0, "")
    # some methods have a goal of their own
    assert schema["required"] == ["version", "input", "columns", "method", "output"]
    assert schema["additionalProperties"] is False
    constants = {
        key["const"]
        for definition in schema["$defs"].values()
        for key in definition.get("properties", {}).values()
        if "const" in key
    }
    assert constants >= {*PROPERTIES, *METHODS}
