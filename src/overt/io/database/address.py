# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/test_database.py
"""Where a database is, and which table in it: words that can be written down, and what they stand for.

A recipe, a command line and a manifest hold a *reference*: the name of an environment variable, an address without a
password, or the path of an SQLite file. What a reference stands for is looked up when a connection is made, is in no
`repr`, and is in no message.
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from overt.errors import InvalidInput

System = Literal["postgresql", "sqlite"]
SQLITE_MAGIC = b"SQLite format 3\0"
LONGEST_NAME = 63  # bytes; PostgreSQL cuts longer names off without a word

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_POSTGRESQL = r"(?i)postgres(?:ql)?(?:\+\w+)?://"
_KEYWORDS = r"\s*(?:[a-z_]+\s*=\s*(?:'(?:[^'\\]|\\.)*'|[^\s']*)\s*)+"  # host=... dbname=..., as libpq reads it
EXPECTED = (
    "the name of an environment variable that holds the address of a database, an address without a password, or the path of "
    "an SQLite file"
)


@dataclass(frozen=True)
class Address:
    """What a reference stands for. Only `said` may be shown."""

    said: str  # the words that a person used for it, none of them secret
    system: System
    target: str = field(repr=False)  # what libpq understands, or a path

    @property
    def path(self) -> Path:
        """The file of an SQLite database."""
        return Path(self.target)


@dataclass(frozen=True)
class TableName:
    """The name of a table, perhaps in a schema.

    >>> TableName.parse('clinic."Patients 2024"')
    TableName(schema='clinic', name='Patients 2024')
    >>> TableName(None, 'a"b').quoted
    '"a""b"'
    """

    schema: str | None
    name: str

    @classmethod
    def parse(cls, text: str) -> "TableName":
        """Read `name` or `schema.name`. Names are taken letter by letter; one with a dot stands in double quotes."""
        parts = re.findall(r'(?:"((?:[^"]|"")+)"|([^".]+))(\.|$)', text)
        written = "".join((f'"{quoted}"' if quoted else plain) + dot for quoted, plain, dot in parts)
        if written != text or not 1 <= len(parts) <= 2 or parts[-1][2]:
            raise InvalidInput(
                f"{text!r} is no name of a table; write name or schema.name, and a name with a dot in double quotes."
            )
        names = [quoted.replace('""', '"') or plain for quoted, plain, _ in parts]
        return cls(names[0] if len(names) == 2 else None, names[-1])

    @property
    def quoted(self) -> str:
        """As SQL takes it."""
        return ".".join(quote(part) for part in (self.schema, self.name) if part is not None)

    def __str__(self) -> str:
        parts = [part for part in (self.schema, self.name) if part is not None]
        return ".".join(
            f'"{part.replace(chr(34), chr(34) * 2)}"' if re.search(r'[."]', part) else part for part in parts
        )

    def beside(self, ending: str) -> "TableName":
        """The table of the same release with this name at its end: "sensitive" of `people` is `people_sensitive`."""
        return TableName(self.schema, f"{self.name}_{ending.replace('-', '_')}")


def file_name_of(table: str) -> str:
    """The name of a table as the beginning of a file's.

    >>> file_name_of('clinic."Patients 2024"')
    'clinic_Patients_2024'
    """
    return re.sub(r"[^\w-]+", "_", table).strip("_") or "table"


def quote(name: str) -> str:
    """A name as SQL takes it, whatever it is made of."""
    if "\0" in name:
        raise InvalidInput("A name with a zero byte cannot be a name in a database; rename the column or table.")
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL takes it."""
    return "'" + text.replace("'", "''") + "'"


def holds_password(reference: str) -> bool:
    """Whether a reference seems to hold a password. It is better to ask once too often."""
    if re.search(r"(?i)password\s*=", reference):
        return True
    user, at, _ = reference.partition("://")[2].rpartition("@")
    return bool(at) and ":" in user


def is_variable(reference: str) -> bool:
    """Whether a reference is the name of an environment variable."""
    return re.fullmatch(_VARIABLE, reference) is not None


def is_path(reference: str) -> bool:
    """Whether a reference is the path of an SQLite file."""
    return not (is_variable(reference) or re.match(_POSTGRESQL, reference) or re.fullmatch(_KEYWORDS, reference))


def path_of(reference: str) -> str:
    """The path in a reference to an SQLite file, which may begin with `sqlite:` or `sqlite:///`."""
    return re.sub(r"^sqlite:(?:///)?", "", reference)


def find_address(reference: str, folder: Path = Path(), *, may_hold_password: bool = False) -> Address:
    """What a reference stands for; paths are relative to `folder`."""
    if not may_hold_password and holds_password(reference):
        raise InvalidInput(
            "An address with a password is not taken from here, because commands and recipes are kept and shown; put it into an "
            "environment variable and give the variable's name, or leave the password to PGPASSFILE or a service file."
        )
    if not reference.strip():
        raise InvalidInput(f"The address of a database is empty; give {EXPECTED}.")
    if is_variable(reference):
        held = os.environ.get(reference)
        if held is None:
            raise InvalidInput(
                f"There is no environment variable {reference}; set it to the address of the database, such as "
                "postgresql://user@host/name or the path of an SQLite file."
            )
        return _read(held.strip(), said=reference, folder=Path())
    return _read(reference, said="the address given" if holds_password(reference) else reference, folder=folder)


def is_sqlite_file(path: Path) -> bool:
    """Whether a file is an SQLite database, by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC


def _read(text: str, *, said: str, folder: Path) -> Address:
    if found := re.match(_POSTGRESQL, text):
        return Address(said, "postgresql", "postgresql://" + text[found.end() :])
    if re.fullmatch(_KEYWORDS, text):
        return Address(said, "postgresql", text)
    path = path_of(text)
    if "://" in path or "\0" in path or not path:
        raise InvalidInput(
            f"{said} is no address of a PostgreSQL or SQLite database: it is neither postgresql://... nor the path of a file."
        )
    return Address(said, "sqlite", str(folder / path))
