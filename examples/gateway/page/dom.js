/** Elements from plain data. Text becomes text nodes, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Creates an element.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes] `true` is an empty
 *   attribute; `false` and `undefined` omit it.
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

/**
 * Creates a button.
 *
 * @param {string} name The label.
 * @param {string} className
 * @param {() => void} onClick
 */
export function button(name, className, onClick) {
  const element = el("button", { type: "button", class: className }, name);
  element.addEventListener("click", onClick);
  return element;
}

/**
 * Control characters except tab and line feed, characters that change the direction of text, and those without a width, except the
 * joiner of emoji.
 */
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * Returns a text of an agent with its control characters shown, since they could make a title look like another one.
 *
 * @param {string} text
 */
export function visible(text) {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    // Unicode has a picture of each ASCII control character.
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  });
}

/** Outlines on a grid of 16 by 16. */
const ICONS = {
  read: "M3 2.5h6.5L13 6v7.5H3zM9.5 2.5V6H13M5.5 8.5h5M5.5 11h5",
  edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2zM9.4 4.4l2.2 2.2",
  delete: "M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 9h5.8l.6-9M6.7 7v4M9.3 7v4",
  move: "M2.5 8h11M10 4.5L13.5 8 10 11.5",
  search: "M7 2.8a4.2 4.2 0 100 8.4 4.2 4.2 0 000-8.4zM10 10l3.5 3.5",
  execute: "M2.5 3h11v10h-11zM5 6l2 2-2 2M8.5 10h2.5",
  think: "M8 2.5a4 4 0 00-2.2 7.3v1.7h4.4V9.8A4 4 0 008 2.5zM6.3 13.5h3.4",
  fetch: "M8 2.5v7.5M5 7.2L8 10l3-2.8M3 13h10",
  switch_mode: "M3 5h8.5M9 2.5L11.5 5 9 7.5M13 11H4.5M7 8.5L4.5 11 7 13.5",
  other: "M6.2 2.8l.5 1.7 1.3.5 1.6-.8 1.4 1.4-.8 1.6.5 1.3 1.7.5v0l-1.7.5-.5 1.3.8 1.6-1.4 1.4-1.6-.8-1.3.5-.5 1.7M8 6.2a1.8 1.8 0 110 3.6",
};

/**
 * Creates an icon, which is hidden from screen readers.
 *
 * @param {string} name A tool kind; an unknown one gets the icon of `other`.
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [attribute, value] of Object.entries({ viewBox: "0 0 16 16", class: "icon", "aria-hidden": "true" })) {
    svg.setAttribute(attribute, value);
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", Object.hasOwn(ICONS, name) ? ICONS[/** @type {keyof ICONS} */ (name)] : ICONS.other);
  svg.append(path);
  return svg;
}

/**
 * Creates a folded part with its name.
 *
 * @param {string} name
 * @param {Element} content
 */
export function fold(name, content) {
  return el("details", { class: "fold" }, el("summary", {}, name), content);
}

/**
 * Moves the focus without scrolling.
 *
 * @param {HTMLElement} element
 */
export function focus(element) {
  element.focus({ preventScroll: true });
}
