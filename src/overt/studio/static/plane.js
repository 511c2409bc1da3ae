// SPDX-License-Identifier: Apache-2.0
// The risk-utility plane, drawn by Vega-Lite. Expressions are interpreted, not compiled: the page allows no eval.
"use strict";

function colours() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

const READERS = ["both, proven", "release alone", "with the method", "alone; with the method not known yet"];

function planeOf(points, promise, narrow) {
  const of = colours();
  const share = { type: "quantitative", axis: { format: ".0%", tickCount: 6 }, scale: { zero: true, nice: true }, title: "values guessed right" };
  const cost = { field: "cost", type: "quantitative", title: "lost in pairs of columns (bits)", scale: { zero: false, nice: true, padding: 24 }, axis: { tickCount: 6 } };
  const axis = { labelColor: of("soft"), titleColor: of("soft"), gridColor: of("line"), domainColor: of("edge"), tickColor: of("edge"), labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  const y = { field: "guess", ...share };
  const costs = points.map((point) => point.cost), middle = (Math.min(...costs) + Math.max(...costs)) / 2;
  const placed = points.map((point) => ({ ...point, isRight: point.cost > middle })); // names stand towards the middle, where there is room
  const layer = [
    { mark: { type: "line", color: of("bad"), strokeWidth: 2 }, encoding: { x: cost, y, detail: { field: "method" } } },
    { mark: { type: "point", size: 120, filled: true, tooltip: true, opacity: 1 },
      encoding: { x: cost, y,
        color: { field: "reader", type: "nominal", title: null, scale: { domain: READERS, range: [of("accent"), of("before"), of("bad"), of("none")] } },
        shape: { field: "reader", type: "nominal", title: null, scale: { domain: READERS, range: ["circle", "square", "triangle-up", "diamond"] } },
        tooltip: [{ field: "method", title: "method" }, { field: "reader", title: "reader" }, { field: "guess", format: ".1%", title: "guessed right" }, { field: "cost", format: ".3f", title: "lost (bits)" }] } },
    ...[false, true].map((isRight) => ({ transform: [{ filter: `isValid(datum.label) && datum.isRight === ${isRight}` }],
      mark: { type: "text", align: isRight ? "right" : "left", dx: isRight ? -11 : 11, color: of("ink"), fontSize: 12 },
      encoding: { x: cost, y: { field: "label", ...share }, text: { field: "name" } } })),
  ];
  if (promise) {
    const at = { data: { values: [{ guess: promise, words: `promised: no value likelier than 1 in ${Math.round(1 / promise)}` }] } };
    layer.unshift({ ...at, mark: { type: "rule", strokeDash: [5, 4], color: of("ink") }, encoding: { y } });
    layer.push({ ...at, mark: { type: "text", align: "left", x: 4, dy: -7, color: of("soft"), fontSize: 12 }, encoding: { y, text: { field: "words" } } });
  }
  const legend = { labelColor: of("ink"), labelFontSize: 12, labelLimit: 400, orient: "bottom", columns: narrow ? 1 : 2 };
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    data: { values: placed }, width: "container", height: 300, background: null, autosize: { type: "fit-x", contains: "padding" },
    config: { axis, view: { stroke: null }, font: "system-ui, sans-serif", legend }, layer,
  };
}

async function drawPlanes() {
  for (const place of document.querySelectorAll("[data-plane]:not([data-drawn])")) {
    place.dataset.drawn = "yes";
    const answer = await fetch(place.dataset.plane);
    const { points, promise } = await answer.json();
    const options = { actions: false, renderer: "canvas", ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
    await vegaEmbed(place, planeOf(points, promise, place.clientWidth < 600), options);
  }
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const place of document.querySelectorAll("[data-drawn]")) delete place.dataset.drawn;
  drawPlanes();
});
document.addEventListener("DOMContentLoaded", drawPlanes);
document.addEventListener("htmx:afterSettle", drawPlanes);
document.addEventListener("change", (event) => {
  if (!event.target.matches("[data-plane-column]")) return;
  const place = event.target.closest("figure").querySelector("[data-plane]");
  place.dataset.plane = place.dataset.plane.replace(/(\?.*)?$/, `?column=${event.target.value}`);
  delete place.dataset.drawn;
  drawPlanes();
});
