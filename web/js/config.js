// Guarantee: the pages talk and link only to http(s) addresses, and they all come from config.json.

/**
 * Reads config.json. An empty apiUrl means the API answers on the page's own origin; a laptop offers its key and its
 * inbox; `rush` is given where a burst of invented parcels harms nobody, and is where their mail goes: an address with
 * {} for a word of its own.
 */
export async function readConfig() {
  const answer = await fetch("/config.json", { cache: "no-cache" });
  if (!answer.ok) throw new Error(`config.json answered ${answer.status}`);
  const { apiUrl = "", inboxUrl, apiKey, rush } = await answer.json();
  return { apiUrl: address(apiUrl), inboxUrl: inboxUrl ? address(inboxUrl) : null, apiKey, rush: typeof rush === "string" ? rush : null };
}

function address(text) {
  const url = new URL(text, location.origin);
  if (!/^https?:$/.test(url.protocol)) throw new Error(`config.json: ${text} is no web address`);
  return url.href.replace(/\/+$/, "");
}
