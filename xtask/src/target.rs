//! The stack that smoke and drill work on: one of their own, or a running one.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use clap::Args;
use local_stack::{InboxClient, LocalStack, OPERATOR_KEY, Options, Ports, StackAddresses};

use crate::api::Api;
use crate::{progress, root};

#[derive(Args, Default)]
pub(crate) struct Arguments {
    /// Address of a running API; without it, a stack of its own is started for the occasion
    #[arg(long)]
    url: Option<String>,
    /// Address of that stack's inbox [default: the one that `cargo xtask up` serves beside the API]
    #[arg(long, requires = "url")]
    inbox: Option<String>,
    /// Variable with an operator's key for that API [default: the key that every local stack knows]
    #[arg(long, value_name = "VARIABLE", requires = "url")]
    key_from: Option<String>,
}

pub(crate) struct Target {
    pub(crate) api: Api,
    pub(crate) inbox: InboxClient,
    /// Known if the stack runs on this machine; with it, the queues can be looked into.
    pub(crate) addresses: Option<StackAddresses>,
    own: Option<LocalStack>,
}

impl Target {
    /// The stack asked for; an own one gets these template parameters, and `name` tells the states of own ones apart.
    pub(crate) async fn open(arguments: &Arguments, name: &str, parameters: BTreeMap<String, String>) -> Result<Self> {
        let root = root()?;
        let Some(url) = &arguments.url else {
            return Self::start(name, parameters).await;
        };
        let url = url.trim_end_matches('/');
        let running = StackAddresses::read(&LocalStack::addresses_file(&root.join(".local/state")));
        let addresses = running.ok().filter(|stack| stack.api_url == url);
        let inbox = match (&arguments.inbox, &addresses) {
            (Some(inbox), _) => InboxClient::new(inbox),
            (None, Some(addresses)) => addresses.inbox(),
            (None, None) => {
                return Err(anyhow::anyhow!("{url} is not the API of `cargo xtask up`"))
                    .context("say with --inbox where its inbox is");
            }
        };
        // Not an argument: those stand in the list of processes and in the shell's history.
        let key = match &arguments.key_from {
            Some(variable) => std::env::var(variable).with_context(|| format!("{variable} is not set"))?,
            None => OPERATOR_KEY.to_owned(),
        };
        Ok(Self { api: Api::new(url, &key), inbox, addresses, own: None })
    }

    async fn start(name: &str, parameters: BTreeMap<String, String>) -> Result<Self> {
        let root = root()?;
        let stack = LocalStack::start(Options {
            ports: Ports::free(),
            state_dir: root.join(".local").join(name),
            fresh: true,
            parameters,
            faults: None,
            progress: progress(),
            root,
        })
        .await?;
        let addresses = stack.addresses().clone();
        Ok(Self {
            api: Api::new(&addresses.api_url, OPERATOR_KEY),
            inbox: stack.inbox(),
            addresses: Some(addresses),
            own: Some(stack),
        })
    }

    /// Where everything is, if the stack is our own and so has the parameters that were asked for.
    pub(crate) fn own_addresses(&self) -> Option<&StackAddresses> {
        self.own.as_ref().map(LocalStack::addresses)
    }

    /// Stops the stack if it is our own.
    pub(crate) async fn close(self) {
        if let Some(stack) = self.own {
            stack.stop().await;
        }
    }
}
