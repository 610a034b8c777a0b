// Guarantee: each webhook has one card, which stays where it is while it changes; deliveries are read only where they are looked at.

import { announce, byId, setText, withDisabled } from "../dom.js";
import { faceOf, showFace } from "../face.js";
import { live } from "../live.js";
import { roleOf } from "../role.js";
import { webhookCard } from "./card.js";

const EVERY_MS = 3000;
const PAUSE_MS = 300;
const EMPTY = { icon: "link", title: "No webhooks yet", text: "The first one you create shows up here, with everything that was sent to it." };

/** Starts the list; returns `add`, for a webhook that was just created here. */
export function webhookList(api, owner, changeKey) {
  const cards = new Map(); // webhook id -> its card
  const readRole = roleOf(api);
  let seen = false;

  async function turn(signal) {
    const { webhooks } = await api.webhooks(owner(), signal);
    seen = true;
    for (const [id, card] of cards) if (!webhooks.some((webhook) => webhook.id === id)) drop(id, card);
    webhooks.forEach(show);
    for (const card of cards.values()) await card.readDeliveries(signal);
    await readRole(signal);
  }

  function show(webhook) {
    if (!cards.has(webhook.id)) {
      const card = webhookCard(api, owner, { refresh: () => polling.refresh(), askToDelete });
      cards.set(webhook.id, card);
      byId("cards").append(card.element);
    }
    cards.get(webhook.id).show(webhook);
    frame(null);
  }

  function drop(id, card) {
    if (card.element.contains(document.activeElement)) byId("webhooks").focus({ preventScroll: true });
    card.element.remove();
    cards.delete(id);
  }

  function frame(error) {
    byId("loading").hidden = seen || Boolean(error);
    const face = cards.size > 0 ? null : seen ? EMPTY : error ? faceOf(error) : null;
    showFace(face, changeKey);
    byId("nothing").hidden = cards.size > 0;
    // A key that may not see webhooks may not make one.
    document.querySelector(".create").hidden = error?.status === 403;
  }

  function askToDelete(webhook) {
    const sure = byId("sure"), confirm = byId("delete-it");
    setText(byId("sure-url"), webhook.url);
    setText(byId("sure-problem"), "");
    byId("keep-it").onclick = () => sure.close();
    confirm.onclick = () =>
      withDisabled(confirm, async () => {
        try {
          await api.deleteWebhook(webhook.id, owner());
        } catch (error) {
          // Gone is what was wanted.
          if (error.status !== 404) return setText(byId("sure-problem"), error.message);
        }
        sure.close();
        announce("The webhook is deleted.");
        polling.refresh();
      });
    sure.showModal();
  }

  let timer;
  byId("owner").addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      for (const [id, card] of cards) drop(id, card);
      seen = false;
      frame(null);
      polling.restart();
    }, PAUSE_MS);
  });

  const polling = live(turn, EVERY_MS, ({ error }) => frame(error));
  return {
    add(webhook) {
      seen = true;
      show(webhook);
      polling.refresh();
    },
  };
}
