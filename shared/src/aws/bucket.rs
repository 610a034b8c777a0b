//! The private bucket that keeps the PDFs.

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::presigning::PresigningConfig;

use super::failure::port_error;
use crate::domain::{STORE_LINK_LIFETIME, StoredPdf};
use crate::ports::{Disposition, LinkToPdf, PortError, StorePdf};

/// One bucket.
#[derive(Clone, Debug)]
pub struct InvoiceBucket {
    client: Client,
    name: String,
}

impl InvoiceBucket {
    /// The bucket of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }
}

#[async_trait]
impl StorePdf for InvoiceBucket {
    async fn store(&self, key: &str, pdf: Vec<u8>) -> Result<(), PortError> {
        self.client
            .put_object()
            .bucket(&self.name)
            .key(key)
            .content_type("application/pdf")
            .body(pdf.into())
            .send()
            .await
            .map(|_| ())
            .map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl LinkToPdf for InvoiceBucket {
    async fn link(&self, pdf: &StoredPdf, file_name: &str, disposition: Disposition) -> Result<String, PortError> {
        let disposition = match disposition {
            Disposition::Inline => "inline",
            Disposition::Attachment => "attachment",
        };
        let expires =
            PresigningConfig::expires_in(STORE_LINK_LIFETIME).map_err(|error| PortError::Broken(error.to_string()))?;
        let request = self
            .client
            .get_object()
            .bucket(&self.name)
            .key(&pdf.key)
            .response_content_type("application/pdf")
            .response_content_disposition(format!("{disposition}; filename=\"{file_name}\""))
            .presigned(expires)
            .await
            .map_err(|error| port_error(&error))?;
        Ok(request.uri().to_owned())
    }
}
