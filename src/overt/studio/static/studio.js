// SPDX-License-Identifier: Apache-2.0
// What pages do beyond htmx: dropping files, steppers, progress of an upload. No page needs it to work.
"use strict";

// Files dropped on a zone become the files of its inputs; a form that is a zone is sent at once.
const bringsFiles = (event) => [...event.dataTransfer?.types ?? []].includes("Files");

function listOf(files) {
  const list = new DataTransfer();
  for (const file of files) list.items.add(file);
  return list.files;
}

function give(zone, files) {
  const [first, beside] = zone.querySelectorAll("input[type=file]");
  const named = (file) => files.some((other) => other !== file && other.name.startsWith(`${file.name}.`)); // release.csv beside release.csv.manifest.json
  const main = files.find(named) ?? files[0];
  first.files = listOf([main]);
  if (beside && files.length > 1) beside.files = listOf(files.filter((file) => file !== main));
  if (zone.matches("form")) zone.requestSubmit();
}

for (const zone of document.querySelectorAll(".drop")) {
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    if (event.dataTransfer.files.length) give(zone, [...event.dataTransfer.files]);
  });
  zone.addEventListener("submit", () => {
    zone.setAttribute("aria-busy", "true");
    const say = zone.querySelector("[data-busy]");
    if (say) say.textContent = say.dataset.busy;
  });
}

// A file that misses its zone must not take the place of the page.
for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => { if (bringsFiles(event)) event.preventDefault(); });

// "more" and "less" beside a number.
document.addEventListener("click", (event) => {
  const button = event.target.closest(".stepper button");
  if (!button) return;
  const input = button.parentElement.querySelector("input");
  if (button.dataset.step === "less") input.stepDown(); else input.stepUp();
  input.dispatchEvent(new Event("change", { bubbles: true }));
});

document.addEventListener("click", (event) => { if (event.target.closest("[data-print]")) window.print(); });

// Cuts are dragged along a histogram; the numbers beside it are what counts.
document.addEventListener("pointerdown", (event) => {
  const cut = event.target.closest(".cutter .cut");
  if (!cut) return;
  const figure = cut.closest(".cutter"), svg = cut.ownerSVGElement;
  const area = figure.parentElement.querySelector("textarea");
  const low = Number(figure.dataset.low), high = Number(figure.dataset.high);
  let value = null;
  event.preventDefault();
  const move = (at) => {
    const box = svg.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (at.clientX - box.left) / box.width));
    const exact = low + share * (high - low);
    value = high - low >= 10 ? Math.round(exact) : Number(exact.toPrecision(3));
    const x = 360 * (value - low) / (high - low);
    for (const line of cut.querySelectorAll("line")) { line.setAttribute("x1", x); line.setAttribute("x2", x); }
    for (const handle of cut.querySelectorAll("rect")) handle.setAttribute("x", x - 4);
  };
  const drop = () => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", drop);
    if (value === null) return;
    const [first, ...others] = area.value.split("\n");
    const numbers = first.split(/[,;\s]+/).filter(Boolean);
    const before = numbers[Number(cut.dataset.cut)];
    const moved = (line) => line.split(/[,;\s]+/).filter(Boolean).map((number) => (number === before ? String(value) : number)).join(", ");
    area.value = [first, ...others].map(moved).join("\n");
    area.dispatchEvent(new Event("change", { bubbles: true }));
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", drop);
});

// Nodes of a tree are dragged onto labels; "Move to" in each node is the same without a mouse.
let dragged = null;
document.addEventListener("dragstart", (event) => { dragged = event.target.closest?.("[data-path]") ?? null; });
document.addEventListener("dragover", (event) => { if (dragged && event.target.closest?.('[data-path][data-value="false"]')) event.preventDefault(); });
document.addEventListener("drop", (event) => {
  const label = event.target.closest?.('[data-path][data-value="false"]');
  if (!dragged || !label || label === dragged) return;
  event.preventDefault();
  const tree = label.closest("[data-tree]");
  const values = { edit: "move", path: dragged.dataset.path, into: label.dataset.path, is_value: dragged.dataset.value };
  htmx.ajax("POST", tree.dataset.tree, { target: tree.dataset.target, swap: "innerHTML", values });
  dragged = null;
});

// "Copy for the protocol".
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const said = document.querySelector(button.dataset.copy).innerText;
  try { await navigator.clipboard.writeText(said); button.textContent = "Copied"; } catch { window.getSelection().selectAllChildren(document.querySelector(button.dataset.copy)); }
});

// What was refused stands below until something else is asked for.
document.addEventListener("htmx:beforeRequest", () => document.getElementById("problem").replaceChildren());

// A form that was changed again while its answer was on its way stays where it is: what it then asks would be lost with it.
const changes = new WeakMap(), sent = new WeakMap(); // form -> how often it was changed, in all and when it last asked
document.addEventListener("change", (event) => {
  const form = event.target.closest?.('form[hx-trigger~="change"]');
  if (form) changes.set(form, (changes.get(form) ?? 0) + 1);
}, true);
document.addEventListener("htmx:beforeRequest", (event) => sent.set(event.detail.requestConfig.elt, changes.get(event.detail.requestConfig.elt)));

// The answer to a form that another answer has replaced meanwhile: htmx would look for the parts around it in what was taken out.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, serverResponse, shouldSwap, target, xhr } = event.detail, asked = requestConfig.elt;
  if (changes.get(asked) !== sent.get(asked)) { event.preventDefault(); return; }
  if (!shouldSwap || asked.isConnected) return;
  event.preventDefault();
  const swapStyle = xhr.getResponseHeader("HX-Reswap") ?? asked.closest("[hx-swap]")?.getAttribute("hx-swap") ?? "innerHTML";
  const tell = () => { const name = xhr.getResponseHeader("HX-Trigger-After-Settle"); if (name) htmx.trigger(document.body, name); };
  htmx.swap(target, serverResponse, { swapStyle, swapDelay: 0, settleDelay: 20 }, { afterSettleCallback: tell });
});

// What was typed into a form that is sent by its button stays when the answer to another form replaces it.
const typed = new Map(); // id of a field -> what it held
const isTyped = (field) => (field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue);
document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, target } = event.detail;
  typed.clear();
  for (const field of target.querySelectorAll("form:not([hx-trigger]) :is(input, textarea)[id]:not([type=file])")) {
    if (field.form !== requestConfig.elt && isTyped(field)) typed.set(field.id, field.type === "checkbox" ? field.checked : field.value);
  }
});
document.addEventListener("htmx:afterSwap", () => {
  for (const [id, held] of typed) {
    const field = document.getElementById(id);
    if (field && field.type === "checkbox") field.checked = held; else if (field) field.value = held;
  }
  typed.clear();
});
