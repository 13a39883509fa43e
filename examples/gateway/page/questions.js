/** Questions of the agent, from interrupts and from custom events. */

/**
 * @typedef {object} Question
 * @property {string} id
 * @property {"permission" | "form" | "page"} kind
 * @property {string} title The text of the question.
 * @property {string} description Of a permission.
 * @property {any} toolCall Of a permission: the members of the call, as the agent asks for it.
 * @property {any} subject Of a permission: what it is about, if that is no tool call.
 * @property {string} [toolCallId] The tool call of the question.
 * @property {{optionId: string, name: string, kind: string}[]} options Of a permission.
 * @property {any} schema Of a form: a flat object in JSON Schema.
 * @property {string} url Of a page.
 * @property {string} [component] The kind of a question that this page may have a component for.
 * @property {any} [context] The data of the component.
 */

/**
 * An answer of the user.
 *
 * @typedef {{optionId: string} | {action: "accept", content?: Record<string, unknown>} | {action: "decline"} | {cancelled: true}} Answer
 */

/**
 * Returns the question of an interrupt, which ends a run.
 *
 * @param {any} interrupt
 * @returns {Question}
 */
export function fromInterrupt(interrupt) {
  const acp = interrupt.metadata?.acp ?? {};
  const asked = question(interrupt.id, acp.title ?? interrupt.message, interrupt.toolCallId, {
    ...acp,
    schema: acp.options === undefined ? interrupt.responseSchema : undefined,
  });
  return { ...asked, ...shown(interrupt.metadata) };
}

/**
 * Returns the question of a custom event; the run stays open.
 *
 * @param {any} value
 * @returns {Question}
 */
export function fromCustom(value) {
  const asked = question(value.interruptId, value.title ?? value.message, value.toolCallId, { ...value, schema: value.requestedSchema });
  return { ...asked, ...shown(value.metadata) };
}

/**
 * Returns the session of the asking tool, if any.
 *
 * @param {any} interrupt
 * @returns {string | undefined}
 */
export function sessionOf({ id, metadata }) {
  // The id of a question from a model's call contains it.
  return metadata?.sessionId ?? String(id).split(":").at(0);
}

/** @param {any} metadata The data of an asking tool. */
function shown(metadata) {
  return { component: metadata?.elicitKey, context: metadata?.["x-model-context"] };
}

/**
 * @param {string} id
 * @param {unknown} title
 * @param {string | undefined} toolCallId
 * @param {Record<string, any>} asked
 * @returns {Question}
 */
function question(id, title, toolCallId, { options, schema, url, description, toolCall, subject }) {
  const kind = typeof url === "string" ? "page" : schema?.properties !== undefined ? "form" : "permission";
  return {
    id,
    kind,
    title: typeof title === "string" ? title : "",
    description: typeof description === "string" ? description : "",
    toolCall,
    subject,
    toolCallId,
    options: Array.isArray(options) ? options : [],
    schema: schema ?? {},
    url: typeof url === "string" ? url : "",
  };
}

/**
 * Returns an answer in the form of the next run's input.
 *
 * @param {string} interruptId
 * @param {Answer} answer
 */
export function resumeEntry(interruptId, answer) {
  if ("cancelled" in answer) return { interruptId, status: "cancelled" };
  return { interruptId, status: "resolved", payload: answer };
}
