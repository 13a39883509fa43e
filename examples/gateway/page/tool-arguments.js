/** The arguments of tool calls. Agents have different names for the same ones. */

/** @import { Call } from "./tool-words.js" */

/** Names of arguments, the most specific one first. */
export const NAMES = {
  path: ["file_path", "filePath", "filepath", "absolute_path", "notebook_path", "target_file", "path", "file", "filename"],
  from: ["source", "from", "old_path", "oldPath"],
  to: ["destination", "to", "new_path", "newPath"],
  command: ["command", "commands", "cmd", "script"],
  query: ["pattern", "query", "regex"],
  address: ["url", "uri"],
  folder: ["cwd", "workdir", "working_directory", "directory"],
  first: ["offset", "start_line", "startLine"],
  last: ["end_line", "endLine"],
};

/**
 * Returns what a call would do, whole: its command, files and addresses.
 *
 * @param {Call} call
 * @returns {[string, string][]} Names and values; empty if they are unknown.
 */
export function factsOf(call) {
  const input = /** @type {Record<string, any>} */ (typeof call.input === "object" && call.input !== null ? call.input : {});
  const argv = NAMES.command.map((name) => input[name]).find(Array.isArray) ?? [];
  const command = commandOf(input);
  const shell = argv.length > 1 && argv.at(-1) === command ? argv.slice(0, -1).join(" ") : "";
  const places = [first(input, NAMES.from), first(input, NAMES.to)].filter((path) => path !== "").join(" → ");
  /** @type {[string, string][]} */
  const facts = [
    ["Command", command],
    ["Shell", shell],
    ["Folder", command === "" ? "" : first(input, NAMES.folder)],
    ["Files", places || pathsOf(call, input).join("\n")],
    ["Address", addressesOf(input)],
  ];
  return facts.filter(([, text]) => text !== "");
}

/** @param {Record<string, any>} input */
export function addressesOf(input) {
  const requests = Array.isArray(input.requests) ? input.requests.map((request) => first(request ?? {}, NAMES.address)) : [];
  return first(input, NAMES.address) || requests.filter((address) => address !== "").join(", ");
}

/** @param {Record<string, any>} input */
export function commandOf(input) {
  const found = NAMES.command.map((name) => input[name]).find((value) => typeof value === "string" || Array.isArray(value));
  if (typeof found === "string") return found;
  const parts = (found ?? []).map(String);
  // A shell with its option and the command itself.
  if (parts.length === 3 && /(?:^|\/)(?:sh|bash|zsh|dash)$/.test(parts[0]) && /^-l?c$/.test(parts[1])) return parts[2];
  return parts.join("commands" in input ? "; " : " ");
}

/**
 * Returns the files of a call.
 *
 * @param {Call} call
 * @param {Record<string, any>} input
 * @returns {string[]}
 */
export function pathsOf({ kind, title, locations, diffs }, input) {
  const text = (/** @type {unknown} */ value) => (typeof value === "string" && value !== "" ? [value] : []);
  const patch = typeof input.input === "string" ? [...input.input.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, path]) => path) : [];
  const changed = input.changes !== null && typeof input.changes === "object" && !Array.isArray(input.changes) ? Object.keys(input.changes) : [];
  const shown = diffs.flatMap((diff) => (Array.isArray(diff.changes) ? diff.changes : [diff])).flatMap((change) => text(change?.path));
  const sources = [
    text(first(input, NAMES.path)),
    (Array.isArray(input.files) ? input.files : []).flatMap((file) => text(file?.path ?? file)),
    changed,
    patch,
    shown,
    locations.flatMap((location) => text(location?.path)),
    // Some agents have only a title.
    kind === "read" && /^\S*[/.]\S*$/.test(title) ? [title] : [],
  ];
  return [...new Set(sources.find((paths) => paths.length > 0) ?? [])];
}

/**
 * Returns the first text among the members.
 *
 * @param {Record<string, any>} input
 * @param {string[]} names
 * @returns {string}
 */
export function first(input, names) {
  return names.map((name) => input[name]).find((value) => typeof value === "string" && value !== "") ?? "";
}
