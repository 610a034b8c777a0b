// Guarantee: form, list and dialogs know of each other only through what is passed here.

import { byId } from "../dom.js";
import { start } from "../shell.js";
import { createForm } from "./create.js";
import { webhookList } from "./list.js";
import { showSecret } from "./secret.js";

start(({ api, changeKey }) => {
  // An operator may look after any merchant's; to others nobody offers it.
  const owner = () => byId("owner").value.trim().toLowerCase();
  const list = webhookList(api, owner, changeKey);
  createForm(api, owner, (created) => {
    list.add(created);
    showSecret(created.secret);
  });
});
