// Guarantee: data reaches the page as text only, and a value that did not change touches nothing.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** Sets an element's text. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets an attribute. */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Shows a status as icon, words and tone, so that colour is never the only sign. */
export function setBadge(badge, { word, icon, tone }) {
  setText(badge.querySelector(".word"), word);
  setAttribute(badge.querySelector("use"), "href", `#i-${icon}`);
  setAttribute(badge, "data-tone", tone);
}

/** Has a screen reader say a sentence; a new node each time, since the same text twice is not read twice. */
export function announce(sentence) {
  const said = document.createElement("span");
  said.textContent = sentence;
  byId("live").replaceChildren(said);
}

/** Runs `work` with the button disabled, and gives back the focus that disabling takes away. */
export async function withDisabled(button, work) {
  const focused = document.activeElement === button;
  button.disabled = true;
  try {
    return await work();
  } finally {
    button.disabled = false;
    if (focused && [document.body, button].includes(document.activeElement)) button.focus();
  }
}
