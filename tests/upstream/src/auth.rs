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

/// The keys that the platform knows.
pub(crate) struct Keys {
    first: AdminKey,
    known: HashMap<String, KeyState>,
}

impl Keys {
    pub(crate) fn new(first: AdminKey) -> Self {
        let mut keys = Self {
            first,
            known: HashMap::new(),
        };
        keys.restore();
        keys
    }

    /// Back to the one key of the start.
    pub(crate) fn restore(&mut self) {
        self.known.clear();
        self.set(self.first.expose().to_owned(), KeyState::Accepted);
    }

    pub(crate) fn set(&mut self, key: String, state: KeyState) {
        // An empty key would turn every header without one into a valid one.
        if !key.is_empty() {
            self.known.insert(key, state);
        }
    }

    fn permits(&self, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
        let header = headers.get(AUTHORIZATION).ok_or(Refusal::MissingKey)?;
        self.state_of(header)
            .ok_or(Refusal::UnknownKey)?
            .permits(method)
    }

    fn state_of(&self, header: &HeaderValue) -> Option<KeyState> {
        let (scheme, key) = header.to_str().ok()?.split_once(' ')?;
        let known = self.known.get(key.trim()).copied();
        known.filter(|_| scheme.eq_ignore_ascii_case("bearer"))
    }

    /// The word that stands for an `authorization` header in the request log.
    pub(crate) fn label(&self, header: Option<&HeaderValue>) -> &'static str {
        match header {
            None => "none",
            Some(header) => self.state_of(header).map_or("other", KeyState::label),
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
