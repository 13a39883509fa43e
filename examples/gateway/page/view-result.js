/** The text of a result: Markdown, JSON, the code of a file, or lines. */

import { el, visible } from "./dom.js";
import { MAX_TEXT } from "./markdown.js";
import { LongView } from "./view-long.js";
import { nodesOf } from "./view-markup.js";

/** @import { Markdown } from "./markdown.js" */

/**
 * Shows a text.
 *
 * @param {string} text
 * @param {{kind: string, path: string}} call The kind of its tool, and the path of its file.
 * @param {Markdown} markdown
 */
export function resultView(text, { kind, path }, markdown) {
  const name = isJson(text) ? "json" : kind === "read" && !text.startsWith("```") ? path : "";
  const box = el("div", { class: "text result-text" }, el("pre", { tabindex: 0, role: "group", "aria-label": "Result" }, visible(text)));
  const isPlain = kind === "search" && name === "";
  if (!isPlain && text.length <= MAX_TEXT) {
    void markdown.render({ text, isComplete: true, ...(name === "" ? {} : { format: "code", name }) }, (rendered) => {
      if (rendered === null) return;
      box.replaceChildren(...rendered.blocks.flatMap(({ html }) => nodesOf(html)));
      // The headings of a result are not headings of the conversation.
      for (const heading of box.querySelectorAll("h3, h4, h5, h6")) heading.replaceWith(el("p", {}, el("strong", {}, ...heading.childNodes)));
    });
  }
  const long = new LongView(box);
  long.update(text);
  return long.element;
}

/** @param {string} text */
function isJson(text) {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
