# SPDX-License-Identifier: Apache-2.0
"""Both reports on a telephone: nothing lies beyond the edge, and no number is broken into pieces."""

import pytest

import overt
from overt.samples import discharges

LOOK = """() => {
  const edge = document.documentElement.clientWidth, wrong = [];
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect();
    if (box.width > 0 && box.right > edge + 1) wrong.push("beyond the edge: " + one.tagName + " " + one.className);
    if (one.matches("td.number")) {
      const line = parseFloat(getComputedStyle(one).lineHeight);
      const range = document.createRange(); range.selectNodeContents(one);
      if (/^[\\d,.]+( %)?$/.test(one.textContent.trim()) && range.getBoundingClientRect().height > 1.6 * line)
        wrong.push("broken: " + one.textContent);
    }
  }
  return wrong;
}"""


@pytest.mark.slow
def test_nothing_is_cut_off_or_broken_at_400_pixels(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    discharges(3_000).unique("Patient ID", maintain_order=True).write_csv("stays.csv")
    overt.init("stays.csv", into="r.toml")
    assert overt.run("r.toml", report=True, audit=True).ok
    for width in (400, 1200):
        page = browser.new_page(viewport={"width": width, "height": 900})
        for name in ("release.report.html", "release.owner-report.html"):
            page.goto((tmp_path / name).as_uri())
            assert page.evaluate(LOOK) == [], f"{name} at {width} pixels"
        page.set_content(
            "<table><tr><td class=number style='width:1px;overflow-wrap:anywhere;line-height:20px'>11,721</table>"
        )
        assert page.evaluate(LOOK) == ["broken: 11,721"]  # the look can see it
