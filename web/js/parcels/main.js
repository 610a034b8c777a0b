// Guarantee: the form and the list know of each other only through `add`.

import { start } from "../shell.js";
import { createForm } from "./create.js";
import { parcelList } from "./list.js";

start(({ api, changeKey }) => createForm(api, parcelList(api, changeKey)));
