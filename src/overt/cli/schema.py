# SPDX-License-Identifier: Apache-2.0
"""`overt schema`: the JSON Schema of a recipe, so that an editor can complete and check one."""

from overt.cli.console import Exit, tell


def schema() -> int:
    """Print the JSON Schema of a recipe, for editors."""
    import overt

    tell(overt.schema(), json=True)
    return Exit.DONE
