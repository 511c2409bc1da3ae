# SPDX-License-Identifier: Apache-2.0
# Tested through tests/cli/test_schema.py
"""`overt.schema`: the JSON Schema of a recipe, so that an editor can complete and check one."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from overt.audience import Audience
from overt.engine.result import Result
from overt.io.recipe.descriptions import described
from overt.io.recipe.settings import settings_model


@dataclass(frozen=True)
class RecipeSchema(Result):
    """What `overt.schema` gives."""

    audience: ClassVar[Audience | None] = None

    document: dict[str, Any]

    def content(self) -> dict[str, Any]:
        """The schema."""
        return self.document

    def lines(self, width: int | None = None) -> Iterator[str]:
        """The schema as text."""
        yield json.dumps(self.document, indent=2, ensure_ascii=False)


def schema() -> RecipeSchema:
    """Give the JSON Schema of a recipe.

    >>> sorted(schema().to_dict()["required"])
    ['columns', 'input', 'method', 'output', 'version']
    """
    return RecipeSchema(described(settings_model().model_json_schema()))
