/** What the agent asks a person, however it asks. */

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {"permission" | "form" | "page"} kind
 * @property {string} title What is asked, for people to read.
 * @property {string} [toolCallId] The tool call that it is about.
 * @property {{optionId: string, name: string, kind: string}[]} options Of a permission.
 * @property {any} schema Of a form: a flat object in JSON Schema.
 * @property {string} url Of a page.
 * @property {string} [component] What is asked for, where this page may have something better than a form.
 * @property {any} [context] What is to be shown beside the question.
 */

/**
 * What a person answers.
 *
 * @typedef {{optionId: string} | {action: "accept", content?: Record<string, unknown>} | {action: "decline"} | {cancelled: true}} Answer
 */

/**
 * The question of an interrupt, that ends a run.
 *
 * @param {any} interrupt
 * @returns {Question}
 */
export function fromInterrupt(interrupt) {
  const acp = interrupt.metadata?.acp ?? {};
  const asked = question(interrupt.id, interrupt.message, interrupt.toolCallId, {
    options: acp.options,
    schema: acp.options === undefined ? interrupt.responseSchema : undefined,
    url: acp.url,
  });
  return { ...asked, ...shown(interrupt.metadata) };
}

/**
 * The question of a custom event, while the run stays open.
 *
 * @param {any} value
 * @returns {Question}
 */
export function fromCustom(value) {
  const asked = question(value.interruptId, value.title ?? value.message, value.toolCallId, {
    options: value.options,
    schema: value.requestedSchema,
    url: value.url,
  });
  return { ...asked, ...shown(value.metadata) };
}

/**
 * The session of the tool that asks, if one does.
 *
 * @param {any} interrupt
 * @returns {string | undefined}
 */
export function sessionOf({ id, metadata }) {
  // One of a model's call has it in its id.
  return metadata?.sessionId ?? String(id).split(":").at(0);
}

/** @param {any} metadata What a tool that asks has to be shown. */
function shown(metadata) {
  return { component: metadata?.elicitKey, context: metadata?.["x-model-context"] };
}

/**
 * @param {string} id
 * @param {unknown} title
 * @param {string | undefined} toolCallId
 * @param {{options: any, schema: any, url: any}} asked
 * @returns {Question}
 */
function question(id, title, toolCallId, { options, schema, url }) {
  const kind = typeof url === "string" ? "page" : schema?.properties !== undefined ? "form" : "permission";
  return {
    id,
    kind,
    title: typeof title === "string" ? title : "",
    toolCallId,
    options: Array.isArray(options) ? options : [],
    schema: schema ?? {},
    url: typeof url === "string" ? url : "",
  };
}

/**
 * An answer as the next run's input brings it.
 *
 * @param {string} interruptId
 * @param {Answer} answer
 */
export function resumeEntry(interruptId, answer) {
  if ("cancelled" in answer) return { interruptId, status: "cancelled" };
  return { interruptId, status: "resolved", payload: answer };
}
