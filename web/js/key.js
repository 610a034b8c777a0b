// Guarantee: the caller's key is kept for this tab alone, and asked for whenever the API takes none of ours.

const PLACE = "parceltrack-key";

/** The key of this tab; `given` is what the page's settings offer, on a laptop. */
export function keyHolder(given) {
  let key = sessionStorage.getItem(PLACE) ?? given ?? null;
  let asking = null;

  /** Asks until there is another key; several who ask at once share one dialog. */
  function ask(why) {
    asking ??= dialog({ why }).then((typed) => {
      asking = null;
      keep(typed);
      return key;
    });
    return asking;
  }

  /** Offers to use another key; true if one was given. */
  async function change() {
    if (asking) return false;
    const typed = await dialog({ why: "", mayKeep: true });
    if (typed) keep(typed);
    return Boolean(typed);
  }

  function keep(typed) {
    key = typed;
    sessionStorage.setItem(PLACE, key);
  }

  return { current: () => key, ask, change };
}

// Most visits have a key already.
const dialog = async (how) => (await import("./key-dialog.js")).askForKey(how);
