// Guarantee: the photo is asked for once, and only if there is one.

import { byId, setText } from "../dom.js";
import { when } from "../words.js";

/** Shows the proof of delivery of a parcel. */
export function proofOfDelivery(api) {
  let loaded = null;

  return {
    /** Shows the parcel's photo, if it has one. */
    async show({ id, proofOfDelivery }) {
      if (!proofOfDelivery || loaded === proofOfDelivery.at) return;
      loaded = proofOfDelivery.at;
      byId("proof").hidden = false;
      setText(byId("photo-when"), `Taken ${when(proofOfDelivery.at)}.`);
      try {
        byId("photo").alt = "Photo that the driver took at delivery";
        byId("photo").src = await api.proofAddress(id);
      } catch (error) {
        loaded = null;
        setText(byId("photo-when"), `The photo cannot be shown: ${error.message}`);
      }
    },
  };
}
