// Guarantee: figures and failed invoices are read one after the other, and nothing is shown to a key that may not see it.

import { byId } from "../dom.js";
import { faceOf, showFace } from "../face.js";
import { live } from "../live.js";
import { start } from "../shell.js";
import { failedInvoices } from "./failed.js";
import { figures } from "./figures.js";
import { rush } from "./rush.js";

const EVERY_MS = 3000;

start(({ api, config, changeKey }) => {
  let seen = false;
  const queue = figures(api);
  const failed = failedInvoices(api, () => polling.refresh());
  const burst = config.rush ? rush(api, config, () => polling.refresh()) : null;

  async function turn(signal) {
    await queue.read(signal);
    await failed.read(signal);
    await burst?.read(signal);
  }

  function hear({ error }) {
    const refused = error?.status === 403;
    if (!error) seen = true;
    byId("all").hidden = refused || !seen;
    showFace(refused || (error && !seen) ? faceOf(error) : null, changeKey);
  }

  const polling = live(turn, EVERY_MS, hear);
});
