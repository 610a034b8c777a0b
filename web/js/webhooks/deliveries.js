// Guarantee: what is shown of an endpoint's answers is text, and nothing is sent again without being asked for.

import { announce, badge, element, icon, setBadge, setText, withDisabled } from "../dom.js";
import { when } from "../words.js";
import { attemptNote, deliveryBadge, deliveryNote, eventType } from "./words.js";

const PAGE = 20;

/** The deliveries of one webhook, in the `details` of its card; `say` tells what went wrong. */
export function deliveryList(api, owner, { element: details, refresh, say }) {
  const list = details.querySelector("ol"), none = details.querySelector(".none"), older = details.querySelector(".older");
  const rows = new Map(); // delivery id -> its row
  let webhook = null, depth = PAGE;

  details.addEventListener("toggle", () => details.open && refresh());
  older.addEventListener("click", () => {
    depth += PAGE;
    refresh();
  });

  const form = details.querySelector("form"), since = form.elements.since;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!since.value) return since.focus();
    withDisabled(form.querySelector("button"), async () => {
      say("");
      try {
        // What is typed is Singapore's time, whatever the browser's is.
        const { since: from } = await api.resendSince(webhook.id, { since: `${since.value}:00+08:00`, which: form.elements.which.value }, owner());
        announce(`What happened since ${when(from)} is sent again.`);
        refresh();
      } catch (error) {
        say(error.fields?.length > 0 ? `Since ${error.fields[0].message}.` : error.message);
      }
    });
  });

  async function read(signal) {
    if (!details.open) return;
    const { deliveries, nextCursor } = await api.deliveries(webhook.id, { limit: Math.min(depth, 100), owner: owner() }, signal);
    const wanted = new Set(deliveries.map(({ id }) => id));
    for (const [id, row] of rows) {
      if (wanted.has(id)) continue;
      row.element.remove();
      rows.delete(id);
    }
    deliveries.forEach((delivery, place) => {
      if (!rows.has(delivery.id)) rows.set(delivery.id, newRow(delivery.id));
      const row = rows.get(delivery.id);
      if (list.children[place] !== row.element) list.insertBefore(row.element, list.children[place] ?? null);
      row.show(delivery);
    });
    none.hidden = deliveries.length > 0;
    setText(none, "Nothing was sent yet.");
    older.hidden = !nextCursor || depth >= 100;
  }

  function newRow(id) {
    const status = badge(deliveryBadge({ status: "Pending" })), title = element("span"), note = element("p", { class: "note" });
    const again = element("button", { class: "quiet", type: "button" }, icon("again"), "Send again", element("span", { class: "sr" }));
    const attempts = element("ol", { class: "attempts", role: "list" });
    const story = element("details", {}, element("summary", {}, chevron(), "Attempts"), attempts);
    const row = element("li", { class: "delivery" }, element("p", { class: "line" }, title, status), note, story, again);
    let shown = "";

    again.addEventListener("click", () =>
      withDisabled(again, async () => {
        say("");
        try {
          await api.resendDelivery(webhook.id, id, owner());
          announce("It is sent again.");
          refresh();
        } catch (error) {
          say(error.message);
        }
      }));

    return {
      element: row,
      show(delivery) {
        setText(title, eventType(delivery.eventType));
        setText(again.querySelector(".sr"), ` ${eventType(delivery.eventType)} of ${when(delivery.createdAt)}`);
        setBadge(status, deliveryBadge(delivery));
        setText(note, deliveryNote(delivery));
        story.hidden = delivery.attempts.length === 0;
        const text = JSON.stringify(delivery.attempts);
        if (text === shown) return;
        shown = text;
        attempts.replaceChildren(...[...delivery.attempts].reverse().map(attemptRow));
      },
    };
  }

  return { read, show: (news) => (webhook = news) };
}

function chevron() {
  const made = icon("chevron");
  made.classList.add("chevron");
  return made;
}

function attemptRow(attempt) {
  const answer = attempt.responseStart ? element("pre", { dir: "auto" }, attempt.responseStart) : "";
  return element("li", {}, element("time", { datetime: attempt.at, class: "since" }, when(attempt.at)), ` ${attemptNote(attempt)}.`, answer);
}
