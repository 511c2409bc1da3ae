// SPDX-License-Identifier: Apache-2.0
// Progress of jobs: one stream of server-sent events for the page that is looked at. What waits on the page asks again when a job is over,
// and from time to time if its own job is not among those under way or the stream is silent: nothing waits for ever, whatever is lost.
"use strict";

(() => {
  const main = document.querySelector("[data-events]");
  if (!main) return;
  const shown = document.getElementById("jobs"), spoken = document.getElementById("progress"), lost = document.getElementById("lost");
  const WATCH = 2000, SILENT = 7000, LOST = 15000, SPEAK = 5000; // milliseconds
  const address = new URL(main.dataset.events, location.href);
  let source = null, opened = 0, heard = Date.now(), said = 0;

  const ask = () => htmx.trigger(document.body, "over");

  // A page that nobody looks at has no stream: browsers allow six connections to a server, and more tabs than that would block each other.
  function listen() {
    if (source || document.hidden) return;
    source = new EventSource(address);
    opened = Date.now();
    source.addEventListener("jobs", (event) => { isHeard(); show(event.data); });
    source.addEventListener("over", (event) => { isHeard(); address.searchParams.set("since", event.lastEventId); ask(); });
    source.addEventListener("error", () => { if (source && source.readyState === EventSource.CLOSED) stop(); });
  }

  function stop() {
    if (source) source.close();
    source = null;
  }

  function isHeard() {
    heard = Date.now();
    lost.hidden = true;
  }

  // Cards stay where they are while their figures change, so that a button can be pressed and keeps the focus.
  function show(html) {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const cards = [...fresh.content.querySelectorAll("[data-job]")], numbers = cards.map((card) => card.dataset.job);
    for (const old of [...shown.children]) if (!numbers.includes(old.dataset.job)) old.remove();
    for (const card of cards) {
      const old = shown.querySelector(`[data-job="${card.dataset.job}"]`);
      if (!old) { shown.append(card); htmx.process(card); } else update(old.firstElementChild, card.firstElementChild);
    }
    if (cards.length && Date.now() - said > SPEAK) {
      said = Date.now();
      spoken.textContent = [...shown.children].slice(0, 1).map((card) => card.firstElementChild.innerText.replace(/\s+/g, " ")).join("");
    }
  }

  function update(old, fresh) {
    const bar = old.querySelector("progress"), next = fresh.querySelector("progress");
    if (old.dataset.state !== fresh.dataset.state || !bar || !next) { old.replaceWith(fresh); return; }
    old.querySelector(".said").textContent = fresh.querySelector(".said").textContent;
    if (next.hasAttribute("value")) bar.value = next.value; else bar.removeAttribute("value");
  }

  setInterval(() => {
    if (document.hidden) return;
    const silent = Date.now() - heard;
    if (silent > LOST) lost.hidden = false;
    if (silent > SILENT && Date.now() - opened > SILENT) stop();
    listen();
    const waiting = [...document.querySelectorAll("[data-waits]")];
    if (waiting.some((one) => silent > SILENT || !shown.querySelector(`[data-job="${one.dataset.waits}"]`))) ask();
  }, WATCH);

  document.addEventListener("visibilitychange", () => { heard = Date.now(); if (document.hidden) stop(); else listen(); });
  listen();
})();
