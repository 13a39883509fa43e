/** The spans of the last turn as bars over time, updated live. */

import { el } from "./dom.js";
import { readSpans, Spans } from "./spans.js";

/** @import { Row } from "./spans.js" */

/** Maximum number of rows. */
const MAX_ROWS = 200;

/** Maximum number of shown runs of a turn, counted from the last. */
const MAX_RUNS = 8;

/** Maximum indentation of rows. */
const MAX_DEPTH = 6;

/** Interval of updates of running bars. */
const GROW_MS = 250;

/** Smaller differences between clocks are ignored: the gateway's clock is read in seconds. */
const CLOCK_MS = 2000;

const STATE_NAMES = { open: "running", done: "done", failed: "failed" };

/** A table among the details for developers. It sends no requests while they are folded. */
export class TimelineView {
  #root;
  #details;
  #rows = el("tbody");
  #note = el("p", { class: "timeline-note" });
  #table;
  #send;
  #runs = /** @type {string[]} */ ([]);
  #spans = new Spans();
  #abort = new AbortController();
  /** Runs that are or were read. */
  #read = new Set();
  /** Lead of the gateway's clock in milliseconds. */
  #ahead = 0;
  #scheduled = false;

  /**
   * @param {HTMLElement} root
   * @param {HTMLDetailsElement} details The fold around it.
   * @param {import("./access.js").Send} send
   */
  constructor(root, details, send) {
    this.#root = root;
    this.#details = details;
    this.#send = send;
    const heads = ["Step", "Start", "Duration", "Status"].map((name) => el("th", { scope: "col" }, name));
    const chart = el("th", { class: "timeline-chart", "aria-hidden": "true" });
    this.#table = el("table", {}, el("caption", { class: "visually-hidden" }, "Steps of the last turn"), el("thead", {}, el("tr", {}, ...heads, chart)), this.#rows);
    root.append(el("h3", {}, "Timeline of the last turn"), this.#table, this.#note);
    details.addEventListener("toggle", () => {
      if (details.open) this.#readAll();
      else this.#leave();
    });
  }

  /** The runs of the last turn. */
  get runs() {
    return this.#runs;
  }

  /** Clears the table for a new turn or conversation. */
  clear() {
    this.#leave();
    this.#runs = [];
    this.#spans = new Spans();
    this.#root.hidden = true;
    this.#show();
  }

  /** @param {string} runId A started run of the turn. */
  add(runId) {
    if (this.#runs.includes(runId)) return;
    this.#runs = [...this.#runs, runId].slice(-MAX_RUNS);
    this.#root.hidden = false;
    if (this.#details.open) this.#readAll();
  }

  #leave() {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#read.clear();
  }

  #readAll() {
    for (const runId of this.#runs) if (!this.#read.has(runId)) void this.#readRun(runId);
    this.#show();
  }

  /** @param {string} runId */
  async #readRun(runId) {
    const { signal } = this.#abort;
    this.#read.add(runId);
    const to = {
      update: (/** @type {any} */ update) => {
        if (signal.aborted) return;
        this.#spans.add(runId, update);
        this.#schedule();
      },
      time: (/** @type {number} */ time) => {
        const ahead = time - Date.now();
        this.#ahead = Math.abs(ahead) > CLOCK_MS ? ahead : 0;
      },
    };
    await readSpans(runId, to, signal, this.#send);
    this.#schedule();
  }

  /** Shows changes with the next frame, and again while spans are open. */
  #schedule(wait = 0) {
    if (this.#scheduled || !this.#details.open) return;
    this.#scheduled = true;
    setTimeout(() => {
      this.#scheduled = false;
      if (!this.#details.open) return;
      this.#show();
      if (this.#spans.isOpen && this.#read.size > 0) this.#schedule(GROW_MS);
    }, wait);
  }

  #show() {
    const all = this.#spans.rows(Date.now() + this.#ahead);
    const rows = all.slice(0, MAX_ROWS);
    const total = Math.max(1, ...all.map(({ end }) => end));
    rows.forEach((row, at) => {
      const view = /** @type {HTMLTableRowElement} */ (this.#rows.rows[at] ?? this.#rows.appendChild(rowView()));
      update(view, row, total);
    });
    while (this.#rows.rows.length > rows.length) this.#rows.deleteRow(-1);
    const left = all.length - rows.length + this.#spans.dropped;
    this.#table.hidden = rows.length === 0;
    this.#note.textContent = rows.length === 0 ? "The gateway has no timeline of this turn." : left > 0 ? `${left} more steps are not shown.` : "";
  }
}

function rowView() {
  const cells = ["", "timeline-number", "timeline-number", ""].map((name) => el("td", name === "" ? {} : { class: name }));
  const [, ...others] = cells;
  return el("tr", {}, el("th", { scope: "row" }), ...others, el("td", { class: "timeline-chart", "aria-hidden": "true" }, el("span", { class: "timeline-bar" })));
}

/**
 * @param {HTMLTableRowElement} view
 * @param {Row} row
 * @param {number} total
 */
function update(view, row, total) {
  const [name, begins, takes, state, chart] = /** @type {HTMLElement[]} */ ([...view.cells]);
  // The route is of interest for programmers only.
  write(name, /^[A-Z]+ \//.test(row.name) ? "Request" : row.name);
  name.title = row.name;
  name.style.paddingInlineStart = `${Math.min(row.depth, MAX_DEPTH) * 0.8}rem`;
  write(begins, duration(row.start));
  write(takes, duration(row.end - row.start));
  write(state, STATE_NAMES[row.state]);
  view.dataset.state = row.state;
  const bar = /** @type {HTMLElement} */ (chart.firstChild);
  bar.style.insetInlineStart = `${(row.start / total) * 100}%`;
  bar.style.inlineSize = `${((row.end - row.start) / total) * 100}%`;
}

/**
 * Leaves equal text untouched, so that a selection survives.
 *
 * @param {HTMLElement} element
 * @param {string} text
 */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {number} milliseconds */
function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}
