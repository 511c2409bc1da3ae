# SPDX-License-Identifier: Apache-2.0
"""Examples in docstrings begin with `>>>` and have no heading, which the site's reader of docstrings wants."""

import re
from typing import Any

from griffe import Extension

FIRST = re.compile(r"(?:\A|(?<=\n))(?=>>> )")


class Examples(Extension):
    """Put a heading before the first example of every docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None and "Examples\n----" not in obj.docstring.value:
            obj.docstring.value = FIRST.sub("\nExamples\n--------\n", obj.docstring.value, count=1)
