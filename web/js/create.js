// Guarantee: one form content makes one parcel, however often it is sent, until it succeeds or is edited.

import { announce, byId, setText, withDisabled } from "./dom.js";

/** Wires the form; `onCreated` gets each new parcel. */
export function createForm(api, onCreated) {
  const form = byId("create");
  const button = form.querySelector("button[type=submit]");
  const general = byId("create-error");
  const inputs = [...form.querySelectorAll("input")];
  let attempt = null; // the last content sent without success, and its key

  const content = () =>
    Object.fromEntries(inputs.map((input) => [input.name, input.value.trim()]).filter(([, value]) => value));

  form.addEventListener("input", ({ target }) => {
    setError(target, "");
    setText(general, "");
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    clear();
    const missing = inputs.filter((input) => input.required && !input.value.trim());
    if (missing.length > 0) {
      showErrors(missing.map((input) => ({ field: input.name, message: `Please enter the ${input.name === "email" ? "e-mail address" : "recipient's name"}.` })));
      return;
    }
    withDisabled(button, send);
  });

  async function send() {
    const parcel = content();
    const text = JSON.stringify(parcel);
    if (attempt?.text !== text) attempt = { text, key: crypto.randomUUID() };
    setText(button, "Creating…");
    try {
      const created = await api.createParcel(parcel, attempt.key);
      // What was typed while the answer was on its way is the next parcel's.
      if (JSON.stringify(content()) === text) form.reset();
      attempt = null;
      announce(`Parcel ${created.trackingNumber} for ${created.recipient} created.`);
      onCreated(created);
    } catch (error) {
      showProblem(error);
    } finally {
      setText(button, "Create parcel");
    }
  }

  function showProblem(error) {
    const strangers = error.fields?.filter(({ field }) => !inputFor(field)) ?? [];
    if (error.fields?.length > strangers.length) showErrors(error.fields.filter(({ field }) => inputFor(field)));
    else if (error.unsure) say(`${error.message} The parcel may or may not have been created. Send it again: it will not be made twice.`);
    else say(error.message, error.requestId);
    if (strangers.length > 0) say(strangers.map(({ field, message }) => `${field}: ${message}`).join(" "), error.requestId);
  }

  function say(sentence, requestId) {
    setText(general, requestId ? `${sentence} (Request ${requestId})` : sentence);
    announce(sentence);
  }

  function showErrors(errors) {
    for (const { field, message } of errors) setError(inputFor(field), message);
    const wrong = inputs.filter((input) => input.getAttribute("aria-invalid"));
    for (const input of wrong) input.closest("details")?.setAttribute("open", "");
    wrong[0].focus();
    announce(errors.map(({ message }) => message).join(" "));
  }

  const inputFor = (field) => inputs.find((input) => input.name === field);

  function setError(input, message) {
    const slot = byId(`${input.id}-error`);
    setText(slot, message);
    if (message) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }

  function clear() {
    for (const input of inputs) setError(input, "");
    setText(general, "");
  }
}
