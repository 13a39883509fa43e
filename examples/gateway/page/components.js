/** Components for the questions and results of known tools, instead of forms and JSON. */

import { el } from "./dom.js";

/** @import { Question } from "./questions.js" */

/**
 * An input component: its element, its value, and the label of its button.
 *
 * @typedef {{element: HTMLElement, value: () => Record<string, unknown>, submit: string}} Component
 */

/** @type {Map<string, (question: Question) => Component | null>} */
const QUESTIONS = new Map([
  ["pickFlight", flightList],
  ["pickSeat", seatMap],
]);

/** @type {Map<string, (result: any) => HTMLElement | null>} */
const RESULTS = new Map([["book_flight", booking]]);

/**
 * Returns the component for a question; `null` for an unknown question, or one with an invalid context.
 *
 * @param {Question} question
 * @returns {Component | null}
 */
export function questionComponent(question) {
  return QUESTIONS.get(question.component ?? "")?.(question) ?? null;
}

/**
 * Returns the component for the result of a tool, if one exists.
 *
 * @param {string} tool
 * @param {string} text
 * @returns {HTMLElement | null}
 */
export function resultComponent(tool, text) {
  const show = RESULTS.get(tool);
  if (show === undefined) return null;
  try {
    return show(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * @param {Question} question
 * @returns {Component | null}
 */
function flightList({ id, context }) {
  const flights = context?.flights;
  if (!Array.isArray(flights) || flights.length === 0) return null;
  const inputs = flights.map((flight) => el("input", { type: "radio", name: id, value: String(flight.id), required: true }));
  const cards = flights.map((flight, at) =>
    el(
      "label",
      { class: "flight" },
      inputs[at],
      el("span", { class: "flight-airline" }, `✈ ${flight.airline}`, el("small", {}, ` ${flight.id}`)),
      el("span", { class: "flight-times" }, `${flight.departure} → ${flight.arrival}`),
      el("strong", { class: "flight-price" }, `$${flight.price}`),
    ),
  );
  const element = el("fieldset", { class: "flights" }, el("legend", { class: "visually-hidden" }, "Flights"), ...cards);
  const value = () => ({ flightId: inputs.find((input) => input.checked)?.value });
  return { element, value, submit: "Select this flight" };
}

/**
 * @param {Question} question
 * @returns {Component | null}
 */
function seatMap({ id, context }) {
  const { rows, seats, takenSeats } = context ?? {};
  if (!Number.isInteger(rows) || rows < 1 || rows > 100 || !Array.isArray(seats) || !Array.isArray(takenSeats)) return null;
  const taken = new Set(takenSeats);
  /** @type {HTMLInputElement[]} */
  const inputs = [];
  const cell = (/** @type {number} */ row, /** @type {string} */ seat) => {
    const name = `${row}${seat}`;
    const disabled = taken.has(name);
    const input = el("input", { type: "radio", name: id, value: name, required: true, disabled, "aria-label": disabled ? `${name}, taken` : name });
    input.dataset.row = String(row);
    input.dataset.seat = seat;
    inputs.push(input);
    return el("td", {}, el("label", { class: "seat" }, input, el("span", { "aria-hidden": "true" }, disabled ? "×" : seat)));
  };
  const half = Math.ceil(seats.length / 2);
  const line = (/** @type {number} */ row) =>
    el("tr", {}, ...seats.slice(0, half).map((seat) => cell(row, seat)), el("th", { scope: "row" }, String(row)), ...seats.slice(half).map((seat) => cell(row, seat)));
  const lines = Array.from({ length: rows }, (_, at) => line(at + 1));
  const table = el("table", { class: "cabin", role: "presentation" }, el("tbody", {}, ...lines));
  const element = el("fieldset", { class: "seats" }, el("legend", {}, `Seats on ${context.flightId}; × is taken`), table);
  const value = () => {
    const chosen = inputs.find((input) => input.checked);
    return { row: Number(chosen?.dataset.row), seat: chosen?.dataset.seat };
  };
  return { element, value, submit: "Select this seat" };
}

/** @param {any} result */
function booking(result) {
  if (result?.status === "declined") return el("p", { class: "ticket-note" }, "No flight was booked: you declined.");
  if (result?.status === "cancelled") return el("p", { class: "ticket-note" }, "No flight was booked.");
  if (result?.status !== "booked" || typeof result.flight !== "object") return null;
  const { flight, seat, price, ticketNumber, tip } = result;
  const rows = [
    ["Ticket", ticketNumber],
    ["Flight", `${flight.airline} ${flight.id}`],
    ["Times", `${flight.departure} → ${flight.arrival}`],
    ["Seat", seat],
    ["Price", `$${price}`],
  ];
  const list = el("dl", { class: "ticket-rows" }, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]));
  const said = typeof tip === "string" ? el("p", { class: "ticket-note" }, tip) : null;
  return el("div", { class: "ticket", role: "group", "aria-label": "Booking" }, el("p", { class: "ticket-title" }, "✈ Booked"), list, said);
}
