// Guarantee: the form and the list know of each other only through `add`.

import { showRole } from "../role.js";
import { start } from "../shell.js";
import { createForm } from "./create.js";
import { parcelList } from "./list.js";

start(({ api, changeKey }) => {
  const list = parcelList(api, changeKey);
  createForm(api, list.add);
  showRole(api, list.offerOwner);
});
