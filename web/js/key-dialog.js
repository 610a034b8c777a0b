// Guarantee: a key is typed where nobody reads along, and the dialog stays as long as a key is needed.

import { element } from "./dom.js";

/** Asks for a key; `mayKeep` lets one close the dialog without giving another, which is null. */
export function askForKey({ why, mayKeep = false }) {
  const input = element("input", { id: "key-input", type: "password", required: "", spellcheck: "false", "aria-describedby": "key-error" });
  const error = element("p", { class: "error", id: "key-error" }, why);
  const close = element("button", { class: "quiet", type: "button" }, "Keep the one in use");
  const form = element("form", { class: "fields", method: "dialog", autocomplete: "off", novalidate: "" },
    element("h2", { id: "key-title" }, mayKeep ? "Use another key" : "Your key"),
    element("p", {}, "It begins with ", element("code", {}, "pt_"), ". It is kept for this tab only."),
    element("div", { class: "field" }, element("label", { for: "key-input" }, "Key"), input, error),
    element("div", { class: "buttons" }, element("button", { class: "primary", type: "submit" }, "Go on"), ...(mayKeep ? [close] : [])),
  );
  const shown = element("dialog", { id: "key", "aria-labelledby": "key-title" }, form);
  document.body.append(shown);
  return new Promise((resolve) => {
    function end(typed) {
      shown.remove();
      resolve(typed);
    }
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const typed = input.value.trim();
      if (typed) end(typed);
      else error.textContent = "Please enter a key.";
    });
    close.addEventListener("click", () => end(null));
    // Without a key there is nothing to see behind the dialog; a browser lets a second Escape close it all the same.
    shown.addEventListener("close", () => (mayKeep ? end(null) : shown.isConnected && shown.showModal()));
    shown.addEventListener("cancel", (event) => mayKeep || event.preventDefault());
    shown.showModal();
  });
}
