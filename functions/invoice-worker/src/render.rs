//! The PDF engine as the worker sees it: an invoice's content in, a file out, and nothing else of the world.

use async_trait::async_trait;
use parceltrack::domain::InvoiceContent;

use crate::pdf;

/// A finished PDF file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The file.
    pub bytes: Vec<u8>,
    /// SHA-256 of it, in lower-case hexadecimal.
    pub sha256: String,
    /// How many characters no font of ours has; the file shows a replacement for each.
    pub missing_glyphs: usize,
}

/// The PDF cannot be made, for this reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RenderFailed(pub String);

/// Makes PDFs. Explorations of the worker, which make hundreds of thousands, bring a quick one.
#[async_trait]
pub trait RenderPdf: Send + Sync {
    /// The PDF of this invoice.
    async fn render(&self, content: InvoiceContent) -> Result<Rendered, RenderFailed>;
}

/// The real engine, on a thread of its own: other invoices of the batch go on meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PdfEngine;

#[async_trait]
impl RenderPdf for PdfEngine {
    async fn render(&self, content: InvoiceContent) -> Result<Rendered, RenderFailed> {
        let pdf = tokio::task::spawn_blocking(move || pdf::render(&content))
            .await
            .unwrap_or_else(|join| std::panic::resume_unwind(join.into_panic()))
            .map_err(|error| RenderFailed(error.to_string()))?;
        Ok(Rendered { sha256: pdf.sha256(), missing_glyphs: pdf.missing(), bytes: pdf.into_bytes() })
    }
}
