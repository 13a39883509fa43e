/** Elements from the HTML that the gateway rendered, with the controls of the page. */

import { button, el } from "./dom.js";

const COPIED_MS = 1500;

/**
 * Returns the nodes of a block. The gateway has removed everything that could run or load.
 *
 * @param {string} html
 * @returns {Node[]}
 */
export function nodesOf(html) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  for (const code of body.querySelectorAll("pre > code")) if (code instanceof HTMLElement) addCaption(code);
  for (const table of body.querySelectorAll("table")) {
    const scroll = el("div", { class: "table", role: "region", "aria-label": "Table", tabindex: 0 });
    table.replaceWith(scroll);
    scroll.append(table);
  }
  return [...body.childNodes].filter((node) => node instanceof Element || node.textContent?.trim() !== "");
}

/**
 * Changes a node into another one, and keeps the nodes in it that are equal: the rows of a growing table, the buttons of a code
 * block. Returns whether that is possible.
 *
 * @param {Node} shown
 * @param {Node} fresh
 */
export function patch(shown, fresh) {
  if (!(shown instanceof Element) || !(fresh instanceof Element) || !shown.cloneNode().isEqualNode(fresh.cloneNode())) return false;
  const [old, next] = [[...shown.childNodes], [...fresh.childNodes]];
  const differs = next.findIndex((node, at) => old[at]?.isEqualNode(node) !== true);
  let kept = differs === -1 ? next.length : differs;
  if (kept < Math.min(old.length, next.length) && patch(old[kept], next[kept])) kept += 1;
  for (const node of old.slice(kept)) shown.removeChild(node);
  shown.append(...next.slice(kept));
  return true;
}

/**
 * Puts a code block into a figure with its language and buttons.
 *
 * @param {HTMLElement} code
 */
function addCaption(code) {
  const block = /** @type {HTMLElement} */ (code.parentElement);
  const language = /^language-(.+)$/.exec(code.className)?.[1] ?? "Code";
  const wrap = button("Wrap", "quiet", () => {
    const wraps = block.classList.toggle("wraps");
    wrap.setAttribute("aria-pressed", String(wraps));
  });
  wrap.setAttribute("aria-pressed", "false");
  const copy = button("Copy", "quiet copy", () => {
    navigator.clipboard.writeText(code.textContent ?? "").then(
      () => (copy.textContent = "Copied"),
      () => (copy.textContent = "Could not copy"),
    );
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  });
  const figure = el("figure", { class: "code" }, el("figcaption", {}, el("span", {}, language), wrap, copy));
  block.replaceWith(figure);
  block.tabIndex = 0;
  figure.append(block);
}
