/** Content other than plain text. */

import { el } from "./dom.js";

/** Image types without scripts that browsers support. */
const IMAGE_TYPE = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/**
 * Shows a content block of ACP: an image, or a description of other content.
 *
 * @param {any} part
 */
export function mediaView(part) {
  if (part?.type === "image" && typeof part.data === "string" && IMAGE_TYPE.test(String(part.mimeType))) {
    const source = `data:${part.mimeType};base64,${part.data}`;
    return el("p", { class: "media" }, el("img", { src: source, alt: "Image from the agent" }));
  }
  const words = [part?.type ?? "content", part?.mimeType, part?.uri].filter((word) => typeof word === "string");
  const size = typeof part?.omittedBytes === "number" ? `, ${part.omittedBytes.toLocaleString("en")} bytes left out` : "";
  return el("p", { class: "media turn-end" }, `${words.join(" ")}${size}`);
}

/**
 * Returns the text of a content, with a placeholder for each part that is not text.
 *
 * @param {unknown} content A string, or parts of AG-UI or blocks of ACP.
 * @returns {string}
 */
export function plainText(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined ? "" : JSON.stringify(content, null, 2);
  return content
    .map((part) => {
      if (typeof part?.text === "string") return part.text;
      if (typeof part?.resource?.text === "string") return part.resource.text;
      if (typeof part?.uri === "string") return part.uri;
      return `[${part?.type ?? "content"}]`;
    })
    .join("\n");
}
