//! The key sets of trusted issuers. The organization object fetches each set on behalf of all
//! isolates. The object also stores the set, so that tokens can be verified while the issuer is
//! unreachable.

use std::rc::Rc;

use quillgate::Millis;
use serde::Deserialize;

use crate::analytics::organization_object::Organization;
use crate::analytics::organization_stub::KeySetReply;
use crate::auth::jwks::{KeySet, KeySource, Lookup};
use crate::auth::trusted_issuer::TrustedIssuer;
use crate::http::response::HeaderFields;
use crate::runtime::{Database, HostResult, SharedTask, log_for_operator, now, number, text};
use crate::upstream::transport::{Outgoing, send};

/// The table of key sets, by address.
pub(super) const KEY_SET_TABLE: &str = "
  CREATE TABLE key_set (
    address TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    fetched INTEGER NOT NULL
  );
";
const TIME_LIMIT: Millis = Millis::from_seconds(5);
/// The maximum size of a key set, in bytes. The key sets of common issuers take a few kilobytes.
const MAX_BYTES: usize = 128 * 1024;

/// The key set of an issuer, and the fetch in progress, if any.
pub(super) struct IssuerKeys {
    address: String,
    source: KeySource,
    running: Option<SharedTask<()>>,
}

#[derive(Deserialize)]
struct KeySetRow {
    address: String,
    text: String,
    fetched: Millis,
}

impl Organization {
    /// Returns the key set at the URL `address`. Fetches a set that is missing, old or without the
    /// key `kid`, unless the latest attempt was a short time ago. Returns `None` if no set is
    /// available.
    pub(super) async fn key_set(
        self: Rc<Self>,
        address: &str,
        kid: Option<&str>,
    ) -> HostResult<Option<KeySetReply>> {
        self.key_set_calls.set(self.key_set_calls.get() + 1);
        let (lookup, running) = self.with_keys(address, |keys| {
            let is_fetching = keys.running.is_some();
            let lookup = keys.source.look_up(kid, is_fetching, now());
            (lookup, keys.running.clone())
        });
        if lookup == Lookup::Fetch {
            let fetch = match running {
                Some(fetch) => fetch,
                None => self.fetch_keys(address)?,
            };
            fetch.wait().await?;
        }
        Ok(self.with_keys(address, |keys| {
            let set = keys.source.set.as_ref();
            let set = set.filter(|set| set.is_usable(now()));
            set.map(|set| KeySetReply {
                text: set.text.clone(),
                fetched: set.fetched,
            })
        }))
    }

    fn fetch_keys(self: &Rc<Self>, address: &str) -> HostResult<SharedTask<()>> {
        let (organization, name) = (Rc::clone(self), address.to_owned());
        let fetch = SharedTask::spawn(&self.state, async move {
            let set = fetch_key_set(&name).await;
            if let Some(set) = &set
                && let Err(error) = organization.store_key_set(&name, set)
            {
                // The request can continue with the set in memory. Only a restarted object needs
                // the stored copy.
                log_for_operator(&error.to_string());
            }
            organization.with_keys(&name, |keys| {
                keys.running = None;
                if set.is_some() {
                    keys.source.set = set;
                }
            });
        })?;
        self.with_keys(address, |keys| keys.running = Some(fetch.clone()));
        Ok(fetch)
    }

    fn store_key_set(&self, address: &str, set: &KeySet) -> HostResult<()> {
        let insert = "INSERT OR REPLACE INTO key_set (address, text, fetched) VALUES (?, ?, ?)";
        let row = [text(address), text(&set.text), number(set.fetched.0)];
        self.database.execute(insert, row)
    }

    fn with_keys<T>(&self, address: &str, run: impl FnOnce(&mut IssuerKeys) -> T) -> T {
        let mut all = self.keys.borrow_mut();
        // Addresses come from the configuration, so the list has at most one entry per trusted
        // issuer.
        let known = all.iter().position(|keys| keys.address == address);
        let at = known.unwrap_or_else(|| {
            all.push(IssuerKeys {
                address: address.to_owned(),
                source: KeySource::default(),
                running: None,
            });
            all.len() - 1
        });
        run(&mut all[at])
    }
}

/// Restores the stored key sets. Deletes sets that are invalid, too old or no longer configured.
pub(super) fn restore_keys(
    database: &Database,
    issuers: &[Rc<TrustedIssuer>],
) -> HostResult<Vec<IssuerKeys>> {
    let mut restored = Vec::new();
    for row in database.rows::<KeySetRow>("SELECT address, text, fetched FROM key_set", [])? {
        let mut issuers = issuers.iter();
        let is_configured = issuers.any(|issuer| issuer.jwks == row.address);
        let set = KeySet::read(row.text, row.fetched).ok();
        if let Some(set) = set.filter(|set| is_configured && set.is_usable(now())) {
            restored.push(IssuerKeys {
                address: row.address,
                source: KeySource::from_stored(set),
                running: None,
            });
        } else {
            let delete = "DELETE FROM key_set WHERE address = ?";
            database.execute(delete, [text(&row.address)])?;
        }
    }
    Ok(restored)
}

/// Fetches a key set. Returns `None` if the request fails, the status is not 200, or the body is
/// not a key set or exceeds [`MAX_BYTES`].
async fn fetch_key_set(address: &str) -> Option<KeySet> {
    let sent = send(Outgoing {
        method: "GET",
        url: address,
        headers: HeaderFields::default().with("accept", "application/json"),
        body: None,
        time: TIME_LIMIT,
    });
    let message = sent.await.ok()?;
    if message.head.status != 200 {
        return None;
    }
    let text = message.read_text(MAX_BYTES).await?;
    KeySet::read(text, now()).ok()
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::unwrap_used,
        reason = "a test that unwraps a missing value fails right there"
    )]

    use js_sys::{Array, Object, Reflect};
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;
    use crate::auth::jwks::MAX_AGE;
    use crate::auth::trusted_issuer::read_trusted_issuers;
    use crate::runtime::tests::{fake_database, property};

    const ISSUERS: &str = r#"[{
        "issuer": "https://idp.example",
        "audience": "quillgate",
        "jwks": "https://idp.example/keys",
        "rules": [{
            "claims": { "sub": "alice" },
            "projects": ["acme"],
            "scope": "jobs:read"
        }]
    }]"#;

    #[wasm_bindgen_test]
    fn a_key_set_that_is_too_old_is_deleted_when_the_object_starts() {
        let exec = "(query, ...values) => {
          if (query.startsWith('DELETE')) argument.deleted = values;
          const row = { address: 'https://idp.example/keys', text: '{\"keys\":[]}' };
          const rows = query.startsWith('SELECT') ? [{ ...row, fetched: argument.fetched }] : [];
          return { toArray: () => rows };
        }";
        let issuers = read_trusted_issuers(ISSUERS).unwrap();
        for (age, is_restored) in [(Millis(0), true), (MAX_AGE, false)] {
            let table = Object::new();
            Reflect::set(&table, &"fetched".into(), &number(now().since(age).0)).unwrap();
            let restored = restore_keys(&fake_database(&table, exec), &issuers).unwrap();
            assert_eq!(!restored.is_empty(), is_restored);
            let deleted = property(&table, "deleted");
            assert_eq!(Array::is_array(&deleted), !is_restored);
        }
    }
}
