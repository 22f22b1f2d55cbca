//! Admin keys, and who may do what.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use serde::Deserialize;

use crate::options::AdminKey;
use crate::platform::Platform;
use crate::refusal::Refusal;

/// What the platform makes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyState {
    Accepted,
    Expired,
    Read,
    Write,
}

impl KeyState {
    fn label(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Expired => "expired",
            Self::Read => "read",
            Self::Write => "write",
        }
    }

    fn permits(self, method: &Method) -> Result<(), Refusal> {
        match self {
            Self::Expired => Err(Refusal::ExpiredKey),
            Self::Read if method == Method::POST => Err(Refusal::ReadOnlyKey),
            Self::Write if method != Method::POST => Err(Refusal::WriteOnlyKey),
            Self::Accepted | Self::Read | Self::Write => Ok(()),
        }
    }
}

/// What a key is called where it must not be shown.
const FIRST: &str = "key";
const READ: &str = "read-key";
const UNNAMED: &str = "unnamed";

/// The keys that the platform knows.
pub(crate) struct Keys {
    first: AdminKey,
    read: Option<AdminKey>,
    known: HashMap<String, Known>,
}

struct Known {
    name: String,
    state: KeyState,
}

impl Keys {
    pub(crate) fn new(first: AdminKey, read: Option<AdminKey>) -> Self {
        let mut keys = Self {
            first,
            read,
            known: HashMap::new(),
        };
        keys.restore();
        keys
    }

    /// Back to the keys of the start.
    pub(crate) fn restore(&mut self) {
        self.known.clear();
        if let Some(read) = self.read.clone() {
            self.set(read.expose(), Some(READ), KeyState::Read);
        }
        let first = self.first.clone();
        self.set(first.expose(), Some(FIRST), KeyState::Accepted);
    }

    /// Adds or changes a key; without a name it keeps the one that it has.
    pub(crate) fn set(&mut self, key: &str, name: Option<&str>, state: KeyState) {
        // An empty key would turn every header without one into a valid one.
        if key.is_empty() {
            return;
        }
        let before = self.known.get(key).map(|known| known.name.as_str());
        let name = name.or(before).unwrap_or(UNNAMED).to_owned();
        self.known.insert(key.to_owned(), Known { name, state });
    }

    /// Changes all keys of that name and says how many there are.
    pub(crate) fn set_named(&mut self, name: &str, state: KeyState) -> usize {
        let named = self.known.values_mut().filter(|known| known.name == name);
        named.map(|known| known.state = state).count()
    }

    fn permits(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let header = headers.get(AUTHORIZATION).ok_or(Refusal::MissingKey)?;
        let known = self.find(header).ok_or(Refusal::UnknownKey)?;
        known.state.permits(method)
    }

    fn find(&self, header: &HeaderValue) -> Option<&Known> {
        let (scheme, key) = header.to_str().ok()?.split_once(' ')?;
        let known = self.known.get(key.trim());
        known.filter(|_| scheme.eq_ignore_ascii_case("bearer"))
    }

    /// The word that stands for an `authorization` header in the request log.
    pub(crate) fn label(&self, header: Option<&HeaderValue>) -> &'static str {
        match header {
            None => "none",
            Some(header) => self.find(header).map_or("other", |key| key.state.label()),
        }
    }

    /// The name of an `authorization` header's key.
    pub(crate) fn name(&self, header: Option<&HeaderValue>) -> &str {
        match header {
            None => "none",
            Some(header) => self.find(header).map_or("other", |key| &key.name),
        }
    }

    /// The text with every known key replaced by `[key]`.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut longest_first: Vec<_> = self.known.keys().collect();
        longest_first.sort_by_key(|key| std::cmp::Reverse(key.len()));
        longest_first
            .into_iter()
            .fold(text.to_owned(), |text, key| {
                text.replace(key.as_str(), "[key]")
            })
    }
}

/// A request whose key may do this with this project.
pub(crate) struct Authorized {
    pub(crate) project: String,
}

impl FromRequestParts<Arc<Platform>> for Authorized {
    type Rejection = Refusal;

    async fn from_request_parts(
        parts: &mut Parts,
        platform: &Arc<Platform>,
    ) -> Result<Self, Refusal> {
        platform
            .keys
            .lock()
            .permits(&parts.method, &parts.headers)?;
        let Path(mut names) = Path::<HashMap<String, String>>::from_request_parts(parts, platform)
            .await
            .map_err(|_| Refusal::NoSuchRoute)?;
        let project = names.remove("projectId").ok_or(Refusal::NoSuchRoute)?;
        if !platform.options.projects.contains(&project) {
            return Err(Refusal::UnknownProject);
        }
        Ok(Self { project })
    }
}
