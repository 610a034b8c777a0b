// Guarantee: one form content makes one webhook, however often it is sent, until it succeeds or is edited.

import { announce, byId, element, setText, withDisabled } from "../dom.js";
import { checkAsTyped, problemOf, setError } from "../field.js";
import { EVENT_TYPES } from "./words.js";

/** Wires the form; `onCreated` gets each new webhook, with its secret. */
export function createForm(api, owner, onCreated) {
  const form = byId("create"), button = form.querySelector("button"), general = byId("create-error"), types = byId("types");
  types.querySelector("legend").after(
    ...Object.entries(EVENT_TYPES).map(([type, words]) => element("label", { class: "check" }, element("input", { type: "checkbox", value: type, checked: "" }), words)),
  );
  const inputs = [...form.querySelectorAll("input[name]")], boxes = [...types.querySelectorAll("input")];
  let attempt = null; // the last content sent without success, and its key

  function content() {
    const typed = inputs.map((input) => [input.name, input.value.trim()]).filter(([, value]) => value);
    return { ...Object.fromEntries(typed), eventTypes: boxes.filter((box) => box.checked).map((box) => box.value) };
  }

  inputs.forEach(checkAsTyped);
  form.addEventListener("input", () => {
    setText(general, "");
    if (boxes.some((box) => box.checked)) setText(byId("eventTypes-error"), "");
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    setText(general, "");
    const wrong = inputs.map((input) => ({ field: input.name, message: problemOf(input) })).filter(({ message }) => message);
    if (!boxes.some((box) => box.checked)) wrong.push({ field: "eventTypes", message: "must be one at least" });
    if (wrong.length > 0) showErrors(wrong);
    else withDisabled(button, send);
  });

  async function send() {
    const webhook = content();
    const text = JSON.stringify([webhook, owner()]);
    if (attempt?.text !== text) attempt = { text, key: crypto.randomUUID() };
    setText(button, "Creating…");
    try {
      const created = await api.createWebhook(webhook, attempt.key, owner());
      attempt = null;
      form.reset();
      announce(`The webhook for ${created.url} is there.`);
      onCreated(created);
    } catch (error) {
      const known = error.fields.filter(({ field }) => place(field));
      if (known.length > 0) showErrors(known);
      else say(error.unsure ? `${error.message} Send it again: it will not be made twice.` : error.message);
    } finally {
      setText(button, "Create webhook");
    }
  }

  function say(sentence) {
    setText(general, sentence);
    announce(sentence);
  }

  function showErrors(errors) {
    for (const input of inputs) setError(input, errors.find(({ field }) => field === input.name)?.message ?? "");
    const ofTypes = errors.find(({ field }) => place(field) === types);
    setText(byId("eventTypes-error"), ofTypes ? `Events ${ofTypes.message}.` : "");
    const first = inputs.find((input) => input.hasAttribute("aria-invalid")) ?? boxes[0];
    first.focus();
    announce([...form.querySelectorAll(".error")].map((error) => error.textContent).filter(Boolean).join(" "));
  }

  const place = (field) => (field.startsWith("eventTypes") ? types : inputs.find((input) => input.name === field));
}
