// Guarantee: a PDF is opened by a link that was made for this moment, in a tab that cannot reach this one.

/** Opens the PDF in a new tab. The tab is opened by the click itself: one opened after the answer would be a pop-up. */
export async function openPdf(api, invoiceId) {
  const view = window.open("", "_blank");
  try {
    const address = await api.pdfAddress(invoiceId);
    if (!view) return;
    view.opener = null;
    view.location.replace(address);
  } catch (error) {
    view?.close();
    throw error;
  }
}
