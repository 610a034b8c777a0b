//! The keys that every local stack knows. They open nothing but a stack on somebody's laptop, so they may be read here.

use anyhow::{Context, Result};
use aws_config::Region;
use aws_sdk_dynamodb::config::Credentials;
use parceltrack::aws::{ApiKeyTable, Clients};
use parceltrack::clock::SystemClock;
use parceltrack::domain::{ApiKey, IssuedApiKey, OwnerId, Role, Text};
use parceltrack::ports::{Clock as _, ManageApiKeys as _};

use crate::StackAddresses;
use crate::aws::CREDENTIALS;

/// Lion City's own staff. The page and the sample events use it.
pub const OPERATOR_KEY: &str = "pt_thelocaloperator_onlyforthelaptoponlyforthelaptoponlyforthelaptoponlyforthelaptop";

/// A merchant with the parcels of Lion City itself, which the simulator moves.
pub const MERCHANT_KEY: &str = "pt_thelocalmerchant_onlyforthelaptoponlyforthelaptoponlyforthelaptoponlyforthelaptop";

/// Another merchant, who sees none of those.
pub const OTHER_MERCHANT_KEY: &str =
    "pt_otherlocalseller_onlyforthelaptoponlyforthelaptoponlyforthelaptoponlyforthelaptop";

/// A driver.
pub const DRIVER_KEY: &str = "pt_thelocaldriver00_onlyforthelaptoponlyforthelaptoponlyforthelaptoponlyforthelaptop";

const OTHER_MERCHANT: &str = "orchard-books";

/// Makes them known to this stack, unless they are.
pub(crate) async fn issue(stack: &StackAddresses) -> Result<()> {
    let table = ApiKeyTable::new(clients(stack).await.dynamodb(), stack.output("ApiKeysTableName")?.to_owned());
    let other: OwnerId = OTHER_MERCHANT.parse()?;
    for (key, role, owner, label) in [
        (OPERATOR_KEY, Role::Operator, OwnerId::house(), "Operator on this laptop"),
        (MERCHANT_KEY, Role::Merchant, OwnerId::house(), "Merchant on this laptop"),
        (OTHER_MERCHANT_KEY, Role::Merchant, other, "Another merchant on this laptop"),
        (DRIVER_KEY, Role::Driver, OwnerId::house(), "Driver on this laptop"),
    ] {
        let key: ApiKey = key.parse()?;
        let label = Text::try_from(label.to_owned())?;
        let issued = IssuedApiKey::issue(&key, role, owner, label, SystemClock.now(), None);
        table.issue(&issued).await.with_context(|| format!("cannot issue {key:?}"))?;
    }
    Ok(())
}

/// The SDK's clients for this stack, whatever the environment says.
async fn clients(stack: &StackAddresses) -> Clients {
    let [(_, id), (_, secret), ..] = CREDENTIALS;
    let loader = aws_config::from_env()
        .endpoint_url(&stack.emulator_url)
        .region(Region::new(stack.region.clone()))
        .credentials_provider(Credentials::new(id, secret, None, None, "local-stack"));
    Clients::load(loader).await
}
