/** Unique identifiers. */

/**
 * Returns a new id. `crypto.randomUUID` is missing on plain HTTP beyond loopback.
 *
 * @param {string} prefix
 */
export function newId(prefix) {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `${prefix}-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
