// Guarantee: what is searched for stands in the page's address, so that it can be shared, and survives a reload.

import { byId, element } from "../dom.js";
import { PARCEL_STATUSES, parcelBadge } from "../words.js";

const PAUSE_MS = 300;

/** Wires search and status filter; `onChange` hears of each change. */
export function filter(onChange) {
  const fields = { q: byId("q"), status: byId("status"), owner: byId("owner") };
  fields.status.append(...PARCEL_STATUSES.map((value) => element("option", { value }, parcelBadge(value).word)));
  const address = new URL(location.href);
  // Whose parcels is a question for operators, and counts from when we know that one is looking.
  for (const name of ["q", "status"]) fields[name].value = address.searchParams.get(name) ?? "";
  let timer, last = JSON.stringify(current());

  function current() {
    return { q: fields.q.value.trim(), status: fields.status.value, owner: fields.owner.value.trim().toLowerCase() };
  }

  function changed() {
    clearTimeout(timer);
    const now = current();
    if (JSON.stringify(now) === last) return;
    last = JSON.stringify(now);
    for (const [name, value] of Object.entries(now)) {
      if (value) address.searchParams.set(name, value);
      else address.searchParams.delete(name);
    }
    history.replaceState(null, "", address);
    onChange();
  }

  for (const field of [fields.q, fields.owner]) {
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(changed, PAUSE_MS);
    });
  }
  for (const field of Object.values(fields)) field.addEventListener("change", changed);

  return {
    current,
    offerOwner() {
      fields.owner.value = address.searchParams.get("owner") ?? "";
      changed();
    },
    isOn: () => Object.values(current()).some(Boolean),
    clear() {
      for (const field of Object.values(fields)) field.value = "";
      fields.q.focus();
      changed();
    },
  };
}
