//! The caller of the measured requests, who has an API key.

use anyhow::Result;
use parceltrack::aws::{ApiKeyTable, Clients};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{ApiKey, IssuedApiKey, OwnerId, Role, Text};
use parceltrack::ports::{Clock as _, ManageApiKeys as _};

/// The key, of a merchant. It opens nothing else.
pub const KEY: &str = "pt_themeasuredone00_onlyforthebenchonlyforthebenchonlyforthebenchonlyforthebench0000";

/// Makes the key known to the API whose table of keys is this one.
pub async fn issue_key(clients: &Clients, table: &str) -> Result<()> {
    let key: ApiKey = KEY.parse()?;
    let label = Text::try_from("A caller that is measured".to_owned())?;
    let issued = IssuedApiKey::issue(&key, Role::Merchant, OwnerId::house(), label, SystemClock.now(), None);
    Ok(ApiKeyTable::new(clients.dynamodb(), table.to_owned()).issue(&issued).await?)
}
