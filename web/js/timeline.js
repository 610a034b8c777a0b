// Guarantee: a timeline reads from the newest event down, each with what, where and when.

import { element, fill, icon } from "./dom.js";
import { parcelBadge, when } from "./words.js";

/** Shows events, oldest first as the API gives them, in an ordered list. */
export function showTimeline(list, events) {
  fill(list, events.map(({ status, at, location, note }) => ({ status, at, location, note })).reverse(), ({ status, at, location, note }) => {
    const { word, icon: sign, tone } = parcelBadge(status);
    return element("li", {},
      element("span", { class: "mark", "data-tone": tone }, icon(sign)),
      element("div", {},
        element("p", { class: "what" }, word),
        element("p", { class: "where-when" }, element("time", { datetime: at }, when(at)), location ? ` · ${location}` : ""),
        ...(note ? [element("p", { class: "said", dir: "auto" }, note)] : []),
      ),
    );
  });
}
