// What pages do beside htmx: follow events, show the value of a slider, and take a log that
// is dropped. Nothing here is needed to read or to steer.
"use strict";
(() => {
  const live = document.getElementById("live");
  const say = (state, text) => { live.dataset.state = state; live.textContent = text; };
  const events = new EventSource(document.body.dataset.events);
  let lost = false;
  events.onopen = () => { say("on", "live"); if (lost) refresh(); };
  events.onerror = () => { lost = true; say("off", "not live"); };

  // The part that follows events is fetched at once, then at most once a second, and once
  // more behind the last event.
  const part = document.getElementById("overview");
  let waits = false, again = false;
  function refresh() {
    if (waits) { again = true; return; }
    waits = true;
    if (part) htmx.trigger(part, "refresh");
    setTimeout(() => { waits = false; if (again) { again = false; refresh(); } }, 1000);
  }
  for (const type of (part?.dataset.on || "").split(" ").filter(Boolean)) events.addEventListener(type, refresh);
  addEventListener("pagehide", () => events.close());

  document.addEventListener("input", (e) => {
    if (e.target.type !== "range") return;
    const label = e.target.closest("label, .row").querySelector("output");
    if (label) label.textContent = e.target.value + (e.target.dataset.unit || "");
  });

  const drop = document.getElementById("drop");
  const files = (e) => e.dataTransfer && [...e.dataTransfer.types].includes("Files");
  let within = 0;
  addEventListener("dragenter", (e) => { if (files(e)) { e.preventDefault(); within++; drop.hidden = false; } });
  addEventListener("dragleave", () => { if (within > 0 && --within === 0) drop.hidden = true; });
  addEventListener("dragover", (e) => { if (files(e)) e.preventDefault(); });
  addEventListener("drop", (e) => {
    if (!files(e)) return;
    e.preventDefault();
    within = 0;
    drop.hidden = false;
    drop.firstElementChild.textContent = "Importing…";
    const form = document.createElement("form");
    form.method = "post"; form.action = "/import"; form.enctype = "multipart/form-data"; form.hidden = true;
    const input = document.createElement("input");
    input.type = "file"; input.name = "file"; input.files = e.dataTransfer.files;
    form.append(input);
    document.body.append(form);
    form.submit();
  });
})();
