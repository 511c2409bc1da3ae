# SPDX-License-Identifier: Apache-2.0
"""Draw the picture of the README, light and dark: `python docs/images/draw.py`.

The rows are those of an actual run; tests/test_docs.py repeats it and compares.
"""

from dataclasses import dataclass
from html import escape
from pathlib import Path

PEOPLE = (
    ("Ada Holm", "23", "53111", "Influenza"),
    ("Bruno Kaya", "29", "53115", "Asthma"),
    ("Chiara Lind", "34", "53117", "Migraine"),
    ("Dario Novak", "47", "50667", "Influenza"),
    ("Edith Okoro", "58", "50674", "Diabetes"),
    ("Felix Quist", "66", "50676", "Gastritis"),
)
RELEASE = (
    ("23..34", "5311*", "Asthma"),
    ("23..34", "5311*", "Influenza"),
    ("23..34", "5311*", "Migraine"),
    ("47..66", "506*", "Diabetes"),
    ("47..66", "506*", "Gastritis"),
    ("47..66", "506*", "Influenza"),
)
FINDINGS = (
    ("3-anonymity", "every group has 3 people"),
    ("3-diversity", "no disease above 1/3 of a group"),
    ("nobody lost", "6 rows in, 6 rows out"),
    ("covered", "every value lies in its range"),
    ("no names", "and no trace of the old order"),
)


@dataclass(frozen=True)
class Palette:
    """The colours of one picture."""

    name: str
    ink: str
    faint: str
    line: str
    card: str
    secret: str
    groups: tuple[str, str]
    accent: str
    good: str


LIGHT = Palette(
    "light", "#1f2430", "#6b7280", "#d8dce3", "#ffffff", "#b42318", ("#e3f1ef", "#fbeedb"), "#0f766e", "#15803d"
)
DARK = Palette(
    "dark", "#e6e9ef", "#9aa4b2", "#363d4a", "#161b22", "#ff8b7e", ("#143331", "#3a2d17"), "#4fd1c1", "#4ade80"
)

WIDTH, HEIGHT = 1060, 292
TOP, ROW = 62, 30
SANS = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def draw(palette: Palette) -> str:
    """The whole picture as SVG text."""
    parts = [
        *card(palette, 10, 340, "table", "what you have"),
        *rows(palette, 10, ("name", "age", "postcode", "disease"), PEOPLE, (18, 122, 168, 248), struck=0),
        *arrow(palette, 358, "overt run"),
        *card(palette, 426, 276, "release", "what you publish"),
        *bands(palette, 426, 276),
        *rows(palette, 426, ("age", "postcode", "disease"), RELEASE, (18, 98, 178)),
        *arrow(palette, 710, "overt check"),
        *card(palette, 778, 272, "verdict", "from the files alone"),
        *findings(palette, 778),
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="A table of six people becomes a release in two groups, and a check confirms it">',
            f"<style>.s{{font-family:{SANS}}} .m{{font-family:{MONO};font-size:13px}}</style>",
            *parts,
            "</svg>\n",
        ]
    )


def text(x: int, y: int, words: str, *, fill: str, style: str = "m", more: str = "") -> str:
    """One line of text."""
    return f'<text class="{style}" x="{x}" y="{y}" fill="{fill}" {more}>{escape(words)}</text>'


def card(palette: Palette, x: int, width: int, title: str, subtitle: str) -> list[str]:
    """A sheet of paper with a title above it."""
    return [
        f'<text class="s" x="{x + 2}" y="30"><tspan font-size="19" font-weight="650" fill="{palette.ink}">{title}</tspan>'
        f'<tspan dx="9" font-size="14" fill="{palette.faint}">{subtitle}</tspan></text>',
        f'<rect x="{x}" y="44" width="{width}" height="236" rx="10" fill="{palette.card}" '
        f'stroke="{palette.line}" stroke-width="1.5"/>',
    ]


def bands(palette: Palette, x: int, width: int) -> list[str]:
    """The two groups, each on its own colour."""
    return [
        f'<rect x="{x + 6}" y="{TOP + 30 + 3 * ROW * group}" width="{width - 12}" '
        f'height="{3 * ROW - 4}" rx="7" fill="{colour}"/>'
        for group, colour in enumerate(palette.groups)
    ]


def rows(
    palette: Palette,
    x: int,
    header: tuple[str, ...],
    cells: tuple[tuple[str, ...], ...],
    offsets: tuple[int, ...],
    struck: int | None = None,
) -> list[str]:
    """A table: header, then one line per row. The column `struck` is the one that identifies people."""
    parts = [
        text(x + offset, TOP + 10, words, fill=palette.faint, style="s", more='font-size="13"')
        for offset, words in zip(offsets, header, strict=True)
    ]
    for number, row in enumerate(cells):
        y = TOP + 47 + ROW * number
        for column, (offset, words) in enumerate(zip(offsets, row, strict=True)):
            fill = palette.secret if column == struck else palette.ink
            parts.append(text(x + offset, y, words, fill=fill))
    return parts


def arrow(palette: Palette, x: int, command: str) -> list[str]:
    """An arrow from one sheet to the next, with the command that goes there."""
    y = 169
    return [
        f'<path d="M{x} {y} h48" stroke="{palette.accent}" stroke-width="2.5" stroke-linecap="round"/>',
        f'<path d="M{x + 42} {y - 7} l8 7 l-8 7" fill="none" stroke="{palette.accent}" stroke-width="2.5" '
        'stroke-linecap="round" stroke-linejoin="round"/>',
        *(
            text(x + 26, y - 30 + 15 * line, word, fill=palette.accent, more='text-anchor="middle" font-weight="600"')
            for line, word in enumerate(command.split())
        ),
    ]


def findings(palette: Palette, x: int) -> list[str]:
    """What the check found, one tick each."""
    parts = []
    for number, (name, sentence) in enumerate(FINDINGS):
        y = TOP + 10 + 44 * number
        parts += [
            f'<path d="M{x + 18} {y - 5} l5 6 l10 -12" fill="none" stroke="{palette.good}" stroke-width="2.8" '
            'stroke-linecap="round" stroke-linejoin="round"/>',
            text(x + 46, y, name, fill=palette.ink, style="s", more='font-size="15" font-weight="600"'),
            text(x + 46, y + 18, sentence, fill=palette.faint, style="s", more='font-size="13"'),
        ]
    return parts


if __name__ == "__main__":
    for palette in (LIGHT, DARK):
        (Path(__file__).parent / f"table-release-check-{palette.name}.svg").write_text(draw(palette), encoding="utf-8")
