/** Usage of the agent's context, and the cost of the session. */

const KILO = 1000;

/** A meter in the page's header. */
export class UsageView {
  #root;
  #bar;
  #text;

  /** @param {Document} page */
  constructor(page) {
    this.#root = /** @type {HTMLElement} */ (page.getElementById("usage"));
    this.#bar = /** @type {HTMLElement} */ (page.getElementById("usage-bar"));
    this.#text = /** @type {HTMLElement} */ (page.getElementById("usage-text"));
  }

  clear() {
    this.#root.hidden = true;
  }

  /** @param {any} value The value of `acp.usage`. */
  update(value) {
    const { used, size, cost } = value ?? {};
    if (typeof used !== "number" || typeof size !== "number") return;
    const part = size > 0 ? Math.min(1, used / size) : 0;
    const words = [`${short(used)} of ${short(size)} tokens`];
    if (typeof cost?.amount === "number") words.push(money(cost));
    this.#root.hidden = false;
    this.#root.setAttribute("aria-valuenow", String(Math.round(part * 100)));
    this.#root.setAttribute("aria-valuetext", words.join(", "));
    this.#root.classList.toggle("is-high", part > 0.8);
    this.#bar.style.inlineSize = `${part * 100}%`;
    this.#text.textContent = words.join(" · ");
  }
}

/** @param {number} count */
function short(count) {
  if (count < KILO) return String(count);
  const [scaled, unit] = count < KILO * KILO ? [count / KILO, "k"] : [count / (KILO * KILO), "M"];
  return `${scaled < 10 ? scaled.toFixed(1).replace(".0", "") : Math.round(scaled)}${unit}`;
}

/** @param {{amount: number, currency?: unknown}} cost */
function money({ amount, currency }) {
  const digits = amount < 1 ? 4 : 2;
  try {
    const options = { style: /** @type {const} */ ("currency"), currency: String(currency), maximumFractionDigits: digits };
    return new Intl.NumberFormat("en", options).format(amount);
  } catch {
    return `${amount.toFixed(digits)} ${String(currency ?? "")}`.trim();
  }
}
