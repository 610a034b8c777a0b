// Guarantee: whoever looks at a page knows how old its news is: one line says that it is live, or since when it is not.

import { announce, byId, setText } from "./dom.js";
import { everySecond, poll } from "./poll.js";
import { clockTime, until } from "./words.js";

/** Polls as `poll` does, and keeps the line `#link` with its button "Try now". */
export function live(turn, everyMs, onTurn) {
  const line = byId("link"), button = byId("try-now");
  let state = {};

  function hear({ error, nextAt }) {
    if (Boolean(error) !== Boolean(state.error)) {
      if (error) announce(nextAt ? `${error.message} Next try at ${clockTime(nextAt)}.` : error.message);
      else if (state.error) announce("The API answers again.");
    }
    state = { error, nextAt, since: error ? (state.since ?? Date.now()) : undefined };
    say();
    onTurn(state);
  }

  function say() {
    const { error, nextAt, since } = state;
    line.dataset.state = error ? "away" : "live";
    // The focus must not be lost with the button.
    if (!error && document.activeElement === button) document.querySelector("main").focus({ preventScroll: true });
    button.hidden = !error;
    if (!error) setText(byId("link-text"), `Live, every ${everyMs / 1000} s`);
    else if (nextAt) setText(byId("link-text"), `${error.message} Away since ${clockTime(since)}, next try ${until(nextAt)}.`);
    else setText(byId("link-text"), error.message);
  }

  everySecond(() => state.error && say());
  const polling = poll(turn, everyMs, hear);
  button.addEventListener("click", polling.refresh);
  return polling;
}
