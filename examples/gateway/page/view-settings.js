/** The mode and the options of the agent's session. */

import { el } from "./dom.js";

/**
 * @typedef {{id: string, name: string, kind: "mode" | "option", value: string | boolean, choices: {value: string, name: string}[]}} Setting
 */

/** A row of lists below the conversation, hidden without settings. */
export class SettingsView {
  #root;
  #set;

  /**
   * @param {HTMLElement} root
   * @param {(change: Record<string, unknown>) => Promise<any>} set Returns all settings after the change, or `null`.
   */
  constructor(root, set) {
    this.#root = root;
    this.#set = set;
  }

  clear() {
    this.show(null);
  }

  /**
   * @param {any} settings From the gateway; `null` without a session.
   * @returns {Setting[]} The shown settings.
   */
  show(settings) {
    const all = settingsOf(settings);
    this.#root.hidden = all.length === 0;
    this.#root.replaceChildren(...all.map((setting) => this.#row(setting)));
    return all;
  }

  /** @param {Setting} setting */
  #row(setting) {
    const choices = typeof setting.value === "boolean" ? [{ value: "true", name: "on" }, { value: "false", name: "off" }] : setting.choices;
    const options = choices.map(({ value, name }) => el("option", { value, selected: value === String(setting.value) }, name));
    const select = el("select", {}, ...options);
    select.addEventListener("change", () => void this.#change(setting, select));
    return el("label", { class: "setting" }, el("span", {}, setting.name), select);
  }

  /**
   * @param {Setting} setting
   * @param {HTMLSelectElement} select
   */
  async #change(setting, select) {
    const value = typeof setting.value === "boolean" ? select.value === "true" : select.value;
    select.disabled = true;
    const settings = await this.#set(setting.kind === "mode" ? { modeId: value } : { configId: setting.id, value });
    select.disabled = false;
    if (settings === null) select.value = String(setting.value);
    else this.show(settings);
  }
}

/**
 * @param {any} settings
 * @returns {Setting[]}
 */
export function settingsOf(settings) {
  /** @type {Setting[]} */
  const all = [];
  const modes = settings?.modes;
  if (Array.isArray(modes?.availableModes) && modes.availableModes.length > 1) {
    const choices = modes.availableModes.map((/** @type {any} */ mode) => ({ value: String(mode.id), name: String(mode.name) }));
    all.push({ id: "mode", name: "Mode", kind: "mode", value: String(modes.currentModeId), choices });
  }
  for (const option of settings?.configOptions ?? []) {
    // The same setting in both forms.
    if (option.category === "mode" && all.length > 0) continue;
    const { id, name, currentValue: value } = option;
    const flat = (option.options ?? []).flatMap((/** @type {any} */ entry) => entry.options ?? [entry]);
    const choices = flat.map((/** @type {any} */ entry) => ({ value: String(entry.value), name: String(entry.name ?? entry.value) }));
    if (typeof value === "boolean" || (typeof value === "string" && choices.length > 0)) all.push({ id, name, kind: "option", value, choices });
  }
  return all;
}
