//! The private bucket that keeps the photographs of deliveries.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_s3::Client;
use aws_sdk_s3::operation::head_object::HeadObjectError;
use aws_sdk_s3::presigning::PresigningConfig;

use super::failure::port_error;
use crate::domain::{ParcelId, PhotoSize, PhotoType, ProofOfDelivery, STORE_LINK_LIFETIME, Timestamp, UPLOAD_LIFETIME};
use crate::ports::{KeepProofs, PortError, SignedUpload};

/// One bucket.
#[derive(Clone, Debug)]
pub struct ProofBucket {
    client: Client,
    name: String,
}

impl ProofBucket {
    /// The bucket of this name.
    #[must_use]
    pub fn new(client: Client, name: String) -> Self {
        Self { client, name }
    }
}

/// Nothing that a caller says is in it.
fn key(parcel: ParcelId) -> String {
    format!("proofs/{parcel}")
}

/// Those headers that the link's signature is over. The SDK adds others, such as Lambda's `x-amzn-trace-id`, which a
/// browser may not send, since the bucket's CORS rule does not name them.
fn signed<'a>(url: &str, headers: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let names = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "X-Amz-SignedHeaders");
    let names = names.map(|(_, names)| names.into_owned()).unwrap_or_default();
    let is_signed = |name: &str| names.split(';').any(|signed| signed.eq_ignore_ascii_case(name));
    headers.filter(|(name, _)| is_signed(name)).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn expires_in(lifetime: Duration) -> Result<PresigningConfig, PortError> {
    PresigningConfig::expires_in(lifetime).map_err(|error| PortError::Broken(error.to_string()))
}

#[async_trait]
impl KeepProofs for ProofBucket {
    async fn upload(
        &self,
        parcel: ParcelId,
        photo_type: PhotoType,
        size: PhotoSize,
    ) -> Result<SignedUpload, PortError> {
        let request = self
            .client
            .put_object()
            .bucket(&self.name)
            .key(key(parcel))
            .content_type(photo_type.media_type())
            .content_length(size.bytes().into())
            .presigned(expires_in(UPLOAD_LIFETIME)?)
            .await
            .map_err(|error| port_error(&error))?;
        let url = request.uri().to_owned();
        Ok(SignedUpload { headers: signed(&url, request.headers()), url })
    }

    async fn proof(&self, parcel: ParcelId) -> Result<Option<ProofOfDelivery>, PortError> {
        let answer = match self.client.head_object().bucket(&self.name).key(key(parcel)).send().await {
            Ok(answer) => answer,
            Err(error) if error.as_service_error().is_some_and(HeadObjectError::is_not_found) => return Ok(None),
            Err(error) => return Err(port_error(&error)),
        };
        let broken = |what: &str| PortError::Broken(format!("a photograph without {what}"));
        let at = answer.last_modified.and_then(|at| at.to_millis().ok()).ok_or_else(|| broken("a time"))?;
        let photo_type = answer.content_type.as_deref().and_then(|name| name.parse().ok());
        Ok(Some(ProofOfDelivery {
            at: Timestamp::from_millis(at),
            photo_type: photo_type.ok_or_else(|| broken("a type that we take"))?,
        }))
    }

    async fn link(&self, parcel: ParcelId, photo_type: PhotoType) -> Result<String, PortError> {
        let request = self
            .client
            .get_object()
            .bucket(&self.name)
            .key(key(parcel))
            .response_content_type(photo_type.media_type())
            .response_content_disposition("inline")
            .presigned(expires_in(STORE_LINK_LIFETIME)?)
            .await
            .map_err(|error| port_error(&error))?;
        Ok(request.uri().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_is_told_what_is_signed_and_nothing_else() {
        let url = "https://bucket.example/proofs/1?X-Amz-Expires=600&X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost";
        let sent = [
            ("content-type", "image/png"),
            ("x-amzn-trace-id", "Root=1"),
            ("Content-Length", "7"),
            ("user-agent", "x"),
        ];
        let named: Vec<_> = signed(url, sent.into_iter()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(named, ["content-type", "Content-Length"]);
    }
}
