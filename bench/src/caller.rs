//! The caller of the measured requests, who has an API key.

use anyhow::Result;
use parceltrack::aws::ApiKeyTable;
use parceltrack::clock::SystemClock;
use parceltrack::domain::{ApiKey, IssuedApiKey, OwnerId, Role, Text};
use parceltrack::ports::{Clock as _, ManageApiKeys as _};

use crate::settings::API_KEYS;
use crate::{Aws, clients};

/// The key, of a merchant. It opens nothing else.
pub const KEY: &str = "pt_themeasuredone00_onlyforthelaptoponlyforthelaptoponlyforthelaptoponlyforthelaptop";

/// Makes the key known to the API that has this AWS.
pub async fn issue_key(aws: &Aws) -> Result<()> {
    let clients = clients(aws.clone());
    let key: ApiKey = KEY.parse()?;
    let label = Text::try_from("A caller that is measured".to_owned())?;
    let issued = IssuedApiKey::issue(&key, Role::Merchant, OwnerId::house(), label, SystemClock.now(), None);
    Ok(ApiKeyTable::new(clients.dynamodb(), API_KEYS.to_owned()).issue(&issued).await?)
}
