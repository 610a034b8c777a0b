// Guarantee: a page's parts start together once config.json is read, and if it cannot be read the page says so.

import { connect } from "./api.js";
import { readConfig } from "./config.js";
import { byId, setText } from "./dom.js";
import { SETTINGS, showFace } from "./face.js";
import { keyHolder } from "./key.js";

/** Starts a page: `work` gets the API, the settings, and `changeKey`. */
export async function start(work) {
  try {
    const config = await readConfig();
    if (config.inboxUrl && byId("inbox")) {
      byId("inbox").href = config.inboxUrl;
      byId("inbox").hidden = false;
    }
    const holder = keyHolder(config.apiKey);
    const changeKey = async () => {
      // Everything that was read with the old key must go.
      if (await holder.change()) location.reload();
    };
    byId("change-key")?.addEventListener("click", changeKey);
    await work({ api: connect(config.apiUrl, holder), config, changeKey });
  } catch (error) {
    for (const button of document.querySelectorAll("main button[type=submit]")) button.disabled = true;
    byId("loading")?.toggleAttribute("hidden", true);
    if (byId("link")) {
      byId("link").dataset.state = "away";
      setText(byId("link-text"), `Not connected (${error.message})`);
    }
    showFace(SETTINGS);
  }
}
