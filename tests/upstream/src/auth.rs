//! Admin keys and their permissions.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use serde::Deserialize;

use crate::api_error::ApiError;
use crate::options::Options;
use crate::platform::Platform;

/// The permissions of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KeyState {
    Accepted,
    Expired,
    Read,
    Write,
}

impl KeyState {
    fn permits(self, method: &Method) -> Result<(), ApiError> {
        match self {
            Self::Expired => Err(ApiError::ExpiredKey),
            Self::Read if method == Method::POST => Err(ApiError::ReadOnlyKey),
            Self::Write if method != Method::POST => Err(ApiError::WriteOnlyKey),
            Self::Accepted | Self::Read | Self::Write => Ok(()),
        }
    }
}

/// The names that replace keys in logs.
const ADMIN_KEY_NAME: &str = "key";
const READ_KEY_NAME: &str = "read-key";

/// The known keys and their names and states.
#[derive(Default)]
pub(crate) struct Keys(HashMap<String, KnownKey>);

struct KnownKey {
    name: String,
    state: KeyState,
}

impl Keys {
    pub(crate) fn new(options: &Options) -> Self {
        let mut keys = Self::default();
        if let Some(read) = &options.read_key {
            keys.set(read, READ_KEY_NAME, KeyState::Read);
        }
        keys.set(&options.key, ADMIN_KEY_NAME, KeyState::Accepted);
        keys
    }

    /// Adds or changes a key.
    pub(crate) fn set(&mut self, key: &str, name: &str, state: KeyState) {
        // An empty key would accept every header without a key.
        if key.is_empty() {
            return;
        }
        let name = name.to_owned();
        self.0.insert(key.to_owned(), KnownKey { name, state });
    }

    fn permits(&self, method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
        let header = headers.get(AUTHORIZATION).ok_or(ApiError::MissingKey)?;
        let known = self.find(header).ok_or(ApiError::UnknownKey)?;
        known.state.permits(method)
    }

    fn find(&self, header: &HeaderValue) -> Option<&KnownKey> {
        let (scheme, key) = header.to_str().ok()?.split_once(' ')?;
        let known = self.0.get(key.trim());
        known.filter(|_| scheme.eq_ignore_ascii_case("bearer"))
    }

    /// The name of the key in an `authorization` header.
    pub(crate) fn name(&self, header: Option<&HeaderValue>) -> &str {
        match header {
            None => "none",
            Some(header) => self.find(header).map_or("other", |key| &key.name),
        }
    }

    /// Replaces every known key in a string with `[key]`.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut longest_first: Vec<_> = self.0.keys().collect();
        longest_first.sort_by_key(|key| std::cmp::Reverse(key.len()));
        longest_first
            .into_iter()
            .fold(text.to_owned(), |text, key| {
                text.replace(key.as_str(), "[key]")
            })
    }
}

/// A key that permits the request.
pub(crate) struct PermittedKey;

impl FromRequestParts<Arc<Platform>> for PermittedKey {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        platform: &Arc<Platform>,
    ) -> Result<Self, ApiError> {
        let keys = platform.keys.lock();
        keys.permits(&parts.method, &parts.headers)?;
        Ok(Self)
    }
}

/// The project of a request that is permitted by its key.
pub(crate) struct Authorized {
    pub(crate) project: String,
}

impl FromRequestParts<Arc<Platform>> for Authorized {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        platform: &Arc<Platform>,
    ) -> Result<Self, ApiError> {
        PermittedKey::from_request_parts(parts, platform).await?;
        let Path(mut names) = Path::<HashMap<String, String>>::from_request_parts(parts, platform)
            .await
            .map_err(|_| ApiError::NoSuchRoute)?;
        let project = names.remove("projectId").ok_or(ApiError::NoSuchRoute)?;
        if !platform.options.projects.contains(&project) {
            return Err(ApiError::UnknownProject);
        }
        if project.starts_with("free-") {
            return Err(ApiError::PlanRequired);
        }
        Ok(Self { project })
    }
}
