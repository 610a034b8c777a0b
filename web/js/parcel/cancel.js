// Guarantee: a parcel is cancelled only by somebody who was asked whether they mean it.

import { byId, setText, withDisabled } from "../dom.js";

/** Wires the button; `onCancelled` gets the parcel as it is then. */
export function cancelling(api, onCancelled) {
  const button = byId("cancel"), sure = byId("sure"), confirm = byId("cancel-it");
  let id;

  button.addEventListener("click", () => {
    setText(byId("sure-problem"), "");
    sure.showModal();
  });
  byId("keep-it").addEventListener("click", () => sure.close());
  confirm.addEventListener("click", () =>
    withDisabled(confirm, async () => {
      try {
        const parcel = await api.cancelParcel(id);
        sure.close();
        onCancelled(parcel);
        document.querySelector("main").focus({ preventScroll: true });
      } catch (error) {
        setText(byId("sure-problem"), error.unsure ? `${error.message} Try again: cancelling twice does no harm.` : error.message);
      }
    }));

  return {
    /** Offers to cancel what has not left yet. */
    show(parcel) {
      id = parcel.id;
      button.hidden = parcel.status !== "Created";
    },
  };
}
