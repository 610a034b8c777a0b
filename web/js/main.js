// Guarantee: the parts start together once config.json is read, and if it cannot be read the page says so.

import { connect } from "./api.js";
import { readConfig } from "./config.js";
import { createForm } from "./create.js";
import { byId, setText } from "./dom.js";
import { keyHolder } from "./key.js";
import { parcelList } from "./parcels.js";

try {
  const { apiUrl, inboxUrl, apiKey } = await readConfig();
  if (inboxUrl) {
    byId("inbox").href = inboxUrl;
    byId("inbox").hidden = false;
  }
  const api = connect(apiUrl, keyHolder(apiKey));
  createForm(api, parcelList(api));
} catch (error) {
  byId("create").querySelector("button").disabled = true;
  byId("link").dataset.state = "away";
  setText(byId("link-text"), "Not connected");
  byId("loading").hidden = true;
  byId("unavailable").hidden = false;
  setText(byId("unavailable-why"), `The page's settings cannot be read (${error.message}). Please reload, or tell your administrator.`);
}
