//! The caller of the measured requests, who has an API key.

use anyhow::Result;
use aws_config::Region;
use aws_sdk_dynamodb::config::Credentials;
use parceltrack::aws::{ApiKeyTable, Clients};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{ApiKey, IssuedApiKey, OwnerId, Role, Text};
use parceltrack::ports::{Clock as _, ManageApiKeys as _};

use crate::settings::API_KEYS;

/// The key, of a merchant. It opens nothing else.
pub const KEY: &str = "pt_themeasuredone00_onlyforthebenchonlyforthebenchonlyforthebenchonlyforthebench0000";

/// Makes the key known to the API whose AWS is at this URL.
pub async fn issue_key(aws_url: &str) -> Result<()> {
    let loader = aws_config::from_env()
        .endpoint_url(aws_url)
        .region(Region::from_static("ap-southeast-1"))
        .credentials_provider(Credentials::new("bench", "bench", None, None, "bench"));
    let clients = Clients::load(loader).await;
    let key: ApiKey = KEY.parse()?;
    let label = Text::try_from("A caller that is measured".to_owned())?;
    let issued = IssuedApiKey::issue(&key, Role::Merchant, OwnerId::house(), label, SystemClock.now(), None);
    Ok(ApiKeyTable::new(clients.dynamodb(), API_KEYS.to_owned()).issue(&issued).await?)
}
