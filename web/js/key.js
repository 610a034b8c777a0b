// Guarantee: the caller's key is kept for this tab alone, and asked for whenever the API takes none of ours.

import { byId, setText } from "./dom.js";

const PLACE = "parceltrack-key";

/** The key of this tab; `given` is what the page's settings offer, on a laptop. */
export function keyHolder(given) {
  let key = sessionStorage.getItem(PLACE) ?? given ?? null;
  let asking = null;

  /** Asks until there is another key; several who ask at once share one dialog. */
  function ask(why) {
    asking ??= new Promise((resolve) => {
      const dialog = byId("key");
      const input = dialog.querySelector("input");
      setText(byId("key-error"), why);
      dialog.querySelector("form").addEventListener("submit", (event) => {
        event.preventDefault();
        const typed = input.value.trim();
        if (!typed) return;
        key = typed;
        sessionStorage.setItem(PLACE, key);
        input.value = "";
        dialog.close();
        asking = null;
        resolve(key);
      }, { once: true });
      // Without a key there is nothing to see behind the dialog.
      dialog.addEventListener("cancel", (event) => event.preventDefault());
      dialog.showModal();
    });
    return asking;
  }

  return { current: () => key, ask };
}
