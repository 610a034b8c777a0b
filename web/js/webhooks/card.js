// Guarantee: a card says how its webhook does, and what went wrong with what was asked for stands on it.

import { announce, badge, byId, setBadge, setText, withDisabled } from "../dom.js";
import { when } from "../words.js";
import { deliveryList } from "./deliveries.js";
import { showSecret } from "./secret.js";
import { contactNote, eventType, mayAskContact, webhookBadge, webhookNote } from "./words.js";

/** A new card; `element` goes into the list, `show` fills it, `readDeliveries` reads them if they are looked at. */
export function webhookCard(api, owner, { refresh, askToDelete }) {
  const element = byId("webhook-card").content.firstElementChild.cloneNode(true);
  const part = (name) => element.querySelector(`.${name}`);
  const deliveries = deliveryList(api, owner, { element: part("deliveries"), refresh, say });
  let webhook = null;

  function show(news) {
    webhook = news;
    setText(element.querySelector("h3"), webhook.url);
    for (const whose of element.querySelectorAll(".whose")) setText(whose, ` of ${webhook.url}`);
    const state = webhookBadge(webhook);
    if (!part("state").firstChild) part("state").append(badge(state));
    setBadge(part("state").firstChild, state);
    setText(part("words"), webhookNote(webhook));
    const about = [webhook.description, webhook.eventTypes.map(eventType).join(", "), `contact ${webhook.contactEmail} (${contactNote(webhook)})`, `since ${when(webhook.createdAt)}`];
    setText(part("about"), about.filter(Boolean).join(" · "));
    const off = webhook.state === "SwitchedOff";
    part("test").hidden = off;
    part("enable").hidden = !off;
    part("confirm").hidden = !mayAskContact(webhook);
    deliveries.show(webhook);
  }

  function say(sentence) {
    setText(part("problem"), sentence);
    if (sentence) announce(sentence);
  }

  /** Does one thing at a time with this button, and says on the card what went wrong. */
  function on(name, work) {
    part(name).addEventListener("click", () =>
      withDisabled(part(name), async () => {
        say("");
        try {
          await work();
          refresh();
        } catch (error) {
          say(error.message);
        }
      }));
  }

  on("test", async () => {
    await api.testWebhook(webhook.id, owner());
    part("deliveries").open = true;
    announce("A test event is on its way.");
  });
  on("enable", async () => {
    show(await api.enableWebhook(webhook.id, owner()));
    announce("The webhook is switched on.");
    element.focus({ preventScroll: true });
  });
  on("confirm", async () => {
    show(await api.sendConfirmation(webhook.id, owner()));
    announce("The contact is asked once more, by e-mail.");
  });
  on("rotate", async () => {
    const { secret, ...rotated } = await api.rotateSecret(webhook.id, owner());
    show(rotated);
    const until = rotated.previousSecretsUntil?.at(-1);
    showSecret(secret, until ? `Requests are signed with the one before as well, until ${when(until)}.` : "");
  });
  part("delete").addEventListener("click", () => askToDelete(webhook));

  return { element, show, readDeliveries: deliveries.read };
}
