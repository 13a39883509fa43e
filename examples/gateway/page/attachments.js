/** Files of the next message. */

import { button, el, visible } from "./dom.js";

/** @typedef {"image" | "audio" | "video" | "document"} PartType */

/**
 * A file as a part of a message.
 *
 * Spec: [ContentPart](https://ag-ui.com/spec/1.0/schema#contentpart)
 *
 * @typedef {{type: PartType, source: {type: "data", value: string, mimeType: string}, metadata: {filename: string}}} FilePart
 */

/** The file types that an agent accepts. @typedef {{image: boolean, audio: boolean, file: boolean}} Accepted */

const MIB = 1024 * 1024;

/** Maximum number of bytes of the files of a message. The gateway accepts requests of 4 MiB, with files in base64. */
const MAX_BYTES = 2.5 * MIB;

/** Maximum number of files of a message. */
const MAX_FILES = 10;

/** Names of file types, for messages. */
const NAMES = { image: "images", audio: "audio", video: "videos", document: "files" };

/** Files that the user attached, as chips with a button to remove each. */
export class Attachments {
  #list;
  #note;
  #accepted;
  #changed;
  /** @type {{part: FilePart, bytes: number, chip: HTMLElement}[]} */
  #files = [];
  /** Number of additions that are not complete. */
  #reading = 0;
  /** The last addition. @type {Promise<void>} */
  #last = Promise.resolve();

  /**
   * @param {HTMLElement} list
   * @param {(sentence: string) => void} note Shows why a file was not attached.
   * @param {() => Promise<Accepted>} accepted
   * @param {() => void} changed
   */
  constructor(list, note, accepted, changed) {
    this.#list = list;
    this.#note = note;
    this.#accepted = accepted;
    this.#changed = changed;
  }

  get isEmpty() {
    return this.#files.length === 0;
  }

  /** Whether a file is being read. */
  get isBusy() {
    return this.#reading > 0;
  }

  /** Returns the files, and removes them. */
  take() {
    const parts = this.#files.map(({ part }) => part);
    this.clear();
    return parts;
  }

  clear() {
    this.#files = [];
    this.#list.replaceChildren();
    this.#changed();
  }

  /** @param {FilePart[]} parts Files of an earlier message. */
  put(parts) {
    this.clear();
    for (const part of parts) this.#show(part, Math.ceil((part.source.value.length * 3) / 4));
  }

  /** @param {Iterable<File>} files Files that follow those that are being read. */
  async add(files) {
    this.#note("");
    this.#reading += 1;
    this.#changed();
    const before = this.#last;
    this.#last = (async () => {
      await before;
      const accepted = await this.#accepted();
      for (const file of files) await this.#addOne(file, accepted);
    })();
    await this.#last.finally(() => (this.#reading -= 1));
    this.#changed();
  }

  /**
   * @param {File} file
   * @param {Accepted} accepted
   */
  async #addOne(file, accepted) {
    const type = typeOf(file);
    const name = visible(file.name);
    const isAccepted = type === "image" ? accepted.image : type === "audio" ? accepted.audio : accepted.file;
    if (!isAccepted) return this.#note(`${name} was not attached: this agent does not accept ${NAMES[type]}.`);
    if (this.#files.length >= MAX_FILES) return this.#note(`${name} was not attached: a message has up to ${MAX_FILES} files.`);
    const bytes = this.#files.reduce((sum, other) => sum + other.bytes, file.size);
    if (bytes > MAX_BYTES) return this.#note(`${name} was not attached: the files of a message have up to ${size(MAX_BYTES)}, with this one ${size(bytes)}.`);
    if (file.size === 0) return this.#note(`${name} was not attached: it is empty, or a folder.`);
    const value = await base64(file).catch(() => null);
    if (value === null) return this.#note(`${name} was not attached: it could not be read.`);
    const mimeType = file.type === "" ? "application/octet-stream" : file.type;
    this.#show({ type, source: { type: "data", value, mimeType }, metadata: { filename: file.name } }, file.size);
  }

  /**
   * @param {FilePart} part
   * @param {number} bytes
   */
  #show(part, bytes) {
    const chip = el("li", { class: "attachment" }, fileView(part), el("span", { class: "attachment-size" }, size(bytes)));
    const entry = { part, bytes, chip };
    const remove = button("×", "quiet", () => {
      this.#files = this.#files.filter((other) => other !== entry);
      chip.remove();
      this.#changed();
    });
    remove.setAttribute("aria-label", `Remove ${visible(part.metadata.filename)}`);
    chip.append(remove);
    this.#files.push(entry);
    this.#list.append(chip);
    this.#changed();
  }
}

/**
 * Shows a file: a small picture, or its name.
 *
 * @param {any} part A part of a message.
 */
export function fileView(part) {
  const name = visible(String(part?.metadata?.filename ?? part?.type ?? "file"));
  const { value, mimeType } = part?.source ?? {};
  if (part?.type === "image" && part.source?.type === "data" && /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(String(mimeType))) {
    return el("img", { class: "file-image", src: `data:${mimeType};base64,${value}`, alt: name, title: name });
  }
  return el("span", { class: "file-name" }, name);
}

/** @param {File} file */
function typeOf(file) {
  const kind = /^(image|audio|video)\//.exec(file.type)?.[1];
  return /** @type {PartType} */ (kind ?? "document");
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < MIB ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / MIB).toFixed(1)} MB`;
}

/**
 * @param {File} file
 * @returns {Promise<string>}
 */
function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
