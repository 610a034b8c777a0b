// Guarantee: a secret stands on the page only while its dialog is open, and nowhere else.

import { announce, byId, setText } from "../dom.js";

/** Shows a secret once, with a note about the one before, if there is one. */
export function showSecret(secret, note = "") {
  const dialog = byId("secret");
  setText(byId("secret-text"), secret);
  setText(byId("secret-note"), note);
  byId("copy-secret").onclick = async () => {
    await navigator.clipboard.writeText(secret);
    setText(byId("copy-secret"), "Copied");
    announce("The secret is copied.");
  };
  const forget = () => {
    setText(byId("secret-text"), "");
    setText(byId("copy-secret"), "Copy");
    byId("copy-secret").onclick = null;
  };
  byId("close-secret").onclick = () => {
    forget();
    dialog.close();
  };
  // By Escape as well.
  dialog.onclose = forget;
  dialog.showModal();
}
