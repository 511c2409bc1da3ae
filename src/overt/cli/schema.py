# SPDX-License-Identifier: Apache-2.0
"""`overt schema`: the JSON Schema of a recipe, so that an editor can complete and check one."""

from overt.cli.console import Exit, say_json


def schema() -> int:
    """Print the JSON Schema of a recipe, for editors."""
    from overt.io.settings import settings_model

    say_json(settings_model().model_json_schema())
    return Exit.DONE
