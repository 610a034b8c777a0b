// Guarantee: one form content makes one parcel, however often it is sent, until it succeeds or is edited.

import { announce, byId, setText, withDisabled } from "../dom.js";
import { checkAsTyped, problemOf, setError } from "../field.js";

/** Wires the form; `onCreated` gets each new parcel. */
export function createForm(api, onCreated) {
  const form = byId("create");
  const button = form.querySelector("button[type=submit]");
  const general = byId("create-error");
  const inputs = [...form.querySelectorAll("input")];
  let attempt = null; // the last content sent without success, and its key

  function content() {
    const typed = inputs.map((input) => [input.name, input.value.trim()]).filter(([, value]) => value);
    return Object.fromEntries(typed.map(([name, value]) => [name, name === "weightGrams" ? Number(value) : value]));
  }

  inputs.forEach(checkAsTyped);
  form.addEventListener("input", () => {
    setText(general, "");
    byId("created").hidden = true;
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    setText(general, "");
    const wrong = inputs.map((input) => ({ field: input.name, message: problemOf(input) })).filter(({ message }) => message);
    if (wrong.length > 0) showErrors(wrong);
    else withDisabled(button, send);
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
      showCreated(created);
      onCreated(created);
    } catch (error) {
      showProblem(error);
    } finally {
      setText(button, "Create parcel");
    }
  }

  function showCreated({ trackingNumber, recipient }) {
    const line = byId("created");
    const link = line.querySelector("a");
    setText(link, trackingNumber);
    link.href = `/parcel/?n=${encodeURIComponent(trackingNumber)}`;
    setText(line.querySelector("b"), recipient);
    line.hidden = false;
    announce(`Parcel ${trackingNumber} for ${recipient} created.`);
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
    for (const input of inputs) setError(input, errors.find(({ field }) => field === input.name)?.message ?? "");
    const wrong = inputs.filter((input) => input.hasAttribute("aria-invalid"));
    for (const input of wrong) input.closest("details")?.setAttribute("open", "");
    wrong[0].focus();
    announce(wrong.map((input) => byId(`${input.id}-error`).textContent).join(" "));
  }

  const inputFor = (field) => inputs.find((input) => input.name === field);
}
