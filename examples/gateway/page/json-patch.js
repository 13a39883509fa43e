/**
 * Applies changes to a JSON document.
 *
 * Spec: [RFC 6902](https://www.rfc-editor.org/rfc/rfc6902), [RFC 6901](https://www.rfc-editor.org/rfc/rfc6901)
 */

/**
 * @typedef {{op: string, path: string, from?: string, value?: unknown}} Operation
 */

/** An operation does not apply to the document. */
export class PatchError extends Error {
  /**
   * @param {Operation} operation
   * @param {string} reason
   */
  constructor(operation, reason) {
    super(`cannot ${operation.op} "${operation.path}": ${reason}`);
    this.name = "PatchError";
  }
}

/**
 * Applies all operations, or none.
 *
 * @param {unknown} document Not modified.
 * @param {Operation[]} operations
 * @returns {unknown} The changed document.
 * @throws {PatchError}
 */
export function applyPatch(document, operations) {
  const root = { document: structuredClone(document) };
  for (const operation of operations) applyOperation(root, operation);
  return root.document;
}

/**
 * @param {{document: unknown}} root
 * @param {Operation} operation
 */
function applyOperation(root, operation) {
  const { op, path } = operation;
  switch (op) {
    case "add":
      return add(root, operation, path, structuredClone(operation.value));
    case "remove":
      remove(root, operation, path);
      return;
    case "replace":
      remove(root, operation, path);
      return add(root, operation, path, structuredClone(operation.value));
    case "move":
      return add(root, operation, path, remove(root, operation, operation.from ?? ""));
    case "copy": {
      const { parent, key } = locate(root, operation, operation.from ?? "");
      return add(root, operation, path, structuredClone(read(parent, operation, key)));
    }
    case "test": {
      const { parent, key } = locate(root, operation, path);
      if (!equal(read(parent, operation, key), operation.value)) {
        throw new PatchError(operation, "the value differs");
      }
      return;
    }
    default:
      throw new PatchError(operation, "the operation is unknown");
  }
}

/**
 * The container that a pointer's last token names a place in.
 *
 * @param {{document: unknown}} root
 * @param {Operation} operation
 * @param {string} pointer
 * @returns {{parent: any, key: string}}
 */
function locate(root, operation, pointer) {
  if (pointer === "") return { parent: root, key: "document" };
  if (!pointer.startsWith("/")) throw new PatchError(operation, "the pointer has no leading slash");
  const tokens = pointer.slice(1).split("/").map((t) => t.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = /** @type {string} */ (tokens.pop());
  /** @type {any} */
  let parent = root.document;
  for (const token of tokens) parent = read(parent, operation, token);
  return { parent, key };
}

/**
 * @param {any} parent
 * @param {Operation} operation
 * @param {string} key
 */
function read(parent, operation, key) {
  if (Array.isArray(parent)) return parent[index(parent.length - 1, operation, key)];
  if (parent === null || typeof parent !== "object" || !Object.hasOwn(parent, key)) {
    throw new PatchError(operation, "there is nothing");
  }
  return parent[key];
}

/**
 * @param {{document: unknown}} root
 * @param {Operation} operation
 * @param {string} pointer
 * @param {unknown} value
 */
function add(root, operation, pointer, value) {
  const { parent, key } = locate(root, operation, pointer);
  if (Array.isArray(parent)) {
    parent.splice(key === "-" ? parent.length : index(parent.length, operation, key), 0, value);
  } else if (parent !== null && typeof parent === "object") {
    Object.defineProperty(parent, key, { value, configurable: true, enumerable: true, writable: true });
  } else {
    throw new PatchError(operation, "the parent holds no members");
  }
}

/**
 * @param {{document: unknown}} root
 * @param {Operation} operation
 * @param {string} pointer
 */
function remove(root, operation, pointer) {
  const { parent, key } = locate(root, operation, pointer);
  const value = read(parent, operation, key);
  if (Array.isArray(parent)) parent.splice(index(parent.length - 1, operation, key), 1);
  else delete parent[key];
  return value;
}

/**
 * @param {number} last
 * @param {Operation} operation
 * @param {string} key
 */
function index(last, operation, key) {
  const at = /^(0|[1-9][0-9]*)$/.test(key) ? Number(key) : NaN;
  if (!(at <= last)) throw new PatchError(operation, `"${key}" is no place in the array`);
  return at;
}

/**
 * @param {unknown} a
 * @param {unknown} b
 * @returns {boolean}
 */
function equal(a, b) {
  if (a === b) return true;
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((k) => Object.hasOwn(b, k) && equal(/** @type {any} */ (a)[k], /** @type {any} */ (b)[k]))
  );
}
