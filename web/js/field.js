// Guarantee: what is wrong with a field stands beside it, and is tied to it for a screen reader.

import { byId, setText } from "./dom.js";

const atMost = (most) => (text) => ([...text].length > most ? `must be at most ${most} characters long` : "");
const email = (text) => (/^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text) ? atMost(254)(text) : "must be an e-mail address such as tan@example.com");

// What can be known without asking. The API looks more closely, and its word counts.
const RULES = {
  recipient: atMost(200),
  email,
  contactEmail: email,
  url: (text) => (/^https?:\/\/[^\s/]+/.test(text) ? atMost(2048)(text) : "must be an address such as https://example.com/parceltrack"),
  description: atMost(200),
  address: atMost(300),
  postalCode: (text) => (/^\d{6}$/.test(text) ? "" : "must be six digits such as 018956"),
  phone: atMost(30),
  reference: atMost(100),
  weightGrams: (text) => (/^\d{1,5}$/.test(text) && +text >= 1 && +text <= 50_000 ? "" : "must be a whole number of grams from 1 to 50000"),
};

/** What is wrong with what stands in the field, or nothing. */
export function problemOf(input) {
  const text = input.value.trim();
  if (!text) return input.required ? "is required" : "";
  return RULES[input.name]?.(text) ?? "";
}

/** Says what is wrong with a field, to be read after its name; nothing if it is right. */
export function setError(input, message) {
  const label = input.labels[0].firstChild.textContent.trim();
  setText(byId(`${input.id}-error`), message ? `${label} ${message}.` : "");
  if (message) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
}

/** Checks a field when it is left, and, once it was wrong, while it is typed in. */
export function checkAsTyped(input) {
  input.addEventListener("change", () => input.value.trim() && setError(input, problemOf(input)));
  input.addEventListener("input", () => input.hasAttribute("aria-invalid") && setError(input, problemOf(input)));
}
