/** What a tool call does, in words: "Read src/main.rs:12–40". */

import { NAMES, addressesOf, commandOf, first, pathsOf } from "./tool-arguments.js";

/** Verbs of tool kinds. */
const VERBS = new Map([
  ["read", "Read"],
  ["edit", "Edit"],
  ["delete", "Delete"],
  ["move", "Move"],
  ["search", "Search"],
  ["execute", "Run"],
  ["think", "Think about"],
  ["fetch", "Fetch"],
]);

/** Names of states; an unknown state is shown as it is. */
export const STATUS_NAMES = new Map([
  ["pending", "Waiting"],
  ["asking", "Waiting for you"],
  ["in_progress", "Running"],
  ["completed", "Done"],
  ["failed", "Failed"],
  ["cancelled", "Cancelled"],
  ["incomplete", "Incomplete"],
]);

/** Kinds of tools of which the agent does not report the kind, by words of their names. */
const KINDS = new Map(
  Object.entries({
    read: ["read", "view", "open", "cat"],
    search: ["search", "grep", "glob", "find", "list", "ls"],
    edit: ["edit", "write", "patch", "replace", "create"],
    delete: ["delete", "remove", "rm"],
    move: ["move", "rename"],
    execute: ["run", "exec", "execute", "bash", "shell", "terminal", "command", "commands"],
    fetch: ["fetch", "web", "browse", "download", "http"],
    think: ["think", "plan", "todo", "todos", "todowrite", "task", "agent", "subagent"],
  }).flatMap(([kind, words]) => words.map((word) => /** @type {[string, string]} */ ([word, kind]))),
);

/** Maximum number of named files. */
const MAX_FILES = 3;

/** Maximum length of a target; the arguments contain all of it. */
const MAX_TARGET = 2000;

/** Folders that are shown of an absolute path, with its file. */
const SHOWN_PARTS = 2;

/**
 * What is known about a call.
 *
 * @typedef {object} Call
 * @property {string} name The name of its tool.
 * @property {string} title
 * @property {string} kind
 * @property {unknown} input Its arguments.
 * @property {any[]} locations
 * @property {any[]} diffs The changes of files in its content.
 */

/**
 * @typedef {object} Words
 * @property {string} kind The kind; if the agent reports none, that of similar tools.
 * @property {string} verb Empty if the target says it all.
 * @property {string} target
 * @property {string} path The path of its file, if it is about one.
 * @property {string} note What the title says besides.
 */

/**
 * Returns what a call does.
 *
 * @param {Call} call
 * @returns {Words}
 */
export function wordsOf(call) {
  const kind = kindOf(call);
  const input = /** @type {Record<string, any>} */ (typeof call.input === "object" && call.input !== null ? call.input : {});
  const paths = pathsOf(call, input);
  const path = paths.length === 1 ? paths[0] : "";
  const isNew = kind === "edit" && (typeof input.content === "string" || call.diffs.some((diff) => typeof diff.newText === "string" && typeof diff.oldText !== "string"));
  const verb = isNew && call.diffs.every((diff) => typeof diff.oldText !== "string") ? "Write" : (VERBS.get(kind) ?? "");
  const target = targetOf(kind, input, paths, call) || serverTool(call.name, input);
  if (target === "") return { kind, path, note: "", ...ofTitle(kind, call) };
  const note = saysMore(call, target, paths) ? call.title : "";
  return { kind, path, note, verb: target === serverTool(call.name, input) ? "Call" : verb, target: cut(target, MAX_TARGET) };
}

/**
 * Returns the places in files that are shown neither by a change nor by the title.
 *
 * @param {Call} call
 * @param {string} title
 * @returns {string[]}
 */
export function placesOf({ locations, diffs }, title) {
  const changed = new Set(diffs.map((diff) => diff.path));
  const others = locations.filter((location) => !changed.has(location?.path));
  const places = others.map((location) => `${location?.path ?? ""}${location?.line > 0 ? `:${location.line}` : ""}`);
  return places.filter((place) => place !== "" && !title.includes(place));
}

/**
 * Returns the beginning of a text with more than `length` characters.
 *
 * @param {string} text
 * @param {number} length
 */
export function cut(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/**
 * Returns the end of a long absolute path: as the title has it, or its last parts.
 *
 * @param {string} path
 * @param {string} [title]
 */
export function shortPath(path, title = "") {
  const parts = path.split(/[/\\]/).filter((part) => part !== "");
  const words = new Set(title.split(/[\s`'":,]+/));
  for (let count = SHOWN_PARTS; count > 0; count -= 1) {
    const end = parts.slice(-count).join("/");
    if (words.has(end)) return end;
  }
  const isAbsolute = /^(?:[/\\]|[A-Za-z]:)/.test(path);
  return isAbsolute && parts.length > SHOWN_PARTS ? `…/${parts.slice(-SHOWN_PARTS).join("/")}` : path;
}

/** @param {Call} call */
function kindOf({ kind, name }) {
  if (kind !== "" && kind !== "other") return kind;
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().split(/[^a-z]+/);
  const known = words.map((word) => KINDS.get(word)).find((found) => found !== undefined);
  return name.startsWith("mcp__") ? "other" : (known ?? "other");
}

/**
 * @param {string} kind
 * @param {Record<string, any>} input
 * @param {string[]} paths
 * @param {Call} call
 */
function targetOf(kind, input, paths, { title, locations }) {
  const short = (/** @type {string} */ path) => shortPath(path, title);
  const files = paths.slice(0, MAX_FILES).map(short).join(", ") + (paths.length > MAX_FILES ? ` and ${paths.length - MAX_FILES} more` : "");
  switch (kind) {
    case "read":
      return files === "" ? "" : files + (paths.length === 1 ? linesOf(input, locations) : "");
    case "edit":
    case "delete":
      return files;
    case "move": {
      const [from, to] = [first(input, NAMES.from), first(input, NAMES.to)];
      return from !== "" && to !== "" ? `${short(from)} → ${short(to)}` : files;
    }
    case "search": {
      const query = first(input, NAMES.query);
      return query === "" || files === "" ? query : `${query} in ${files}`;
    }
    case "execute":
      return commandOf(input);
    case "fetch":
      return addressesOf(input) || first(input, NAMES.query);
    default:
      return "";
  }
}

/**
 * @param {Record<string, any>} input
 * @param {any[]} locations
 */
function linesOf(input, locations) {
  const number = (/** @type {string[]} */ names) => names.map((name) => input[name]).find((value) => Number.isInteger(value) && value > 0);
  const range = Array.isArray(input.view_range) ? input.view_range : [];
  const start = range[0] ?? number(NAMES.first) ?? (locations[0]?.line > 1 ? locations[0].line : undefined);
  const count = Number.isInteger(input.limit) ? input.limit : undefined;
  const end = range[1] ?? number(NAMES.last) ?? (count === undefined ? undefined : (start ?? 1) + count - 1);
  if (end === undefined || !(end >= (start ?? 1))) return start === undefined ? "" : `:${start}`;
  return `:${start ?? 1}–${end}`;
}

/**
 * Returns the tool of an MCP server as `server/tool`, if the call is one.
 *
 * @param {string} name
 * @param {Record<string, any>} input
 */
function serverTool(name, input) {
  if (typeof input.server === "string" && typeof input.tool === "string") return `${input.server}/${input.tool}`;
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(name) ?? [];
  return tool === undefined ? "" : `${server}/${tool}`;
}

/**
 * @param {string} kind
 * @param {Call} call
 */
function ofTitle(kind, { title, name }) {
  // Some agents append the arguments to the name of the tool.
  const target = (title || name).replace(/^([\w./-]+): \{.*$/s, "$1").replace(/^`(.*)`$/s, "$1");
  const isCommand = kind === "execute" && /[^\w./-]/.test(target) && !/^[A-Z]/.test(target);
  return { verb: isCommand ? "Run" : "", target: cut(target, MAX_TARGET) };
}

/**
 * Returns whether a title says more than the name of the tool and its target.
 *
 * @param {Call} call
 * @param {string} target
 * @param {string[]} paths
 */
function saysMore({ title, name }, target, paths) {
  // "Read File" says what the verb says.
  const [word, ...others] = title.trim().split(/\s+/);
  if (others.length === 1 && [...VERBS.values()].includes(word)) return false;
  if (title === name || !/\s/.test(title.trim()) || /^[\w./-]+: /.test(title)) return false;
  return ![target, ...paths, ...paths.map((path) => path.split(/[/\\]/).at(-1) ?? "")].some((known) => known !== "" && title.includes(known));
}
