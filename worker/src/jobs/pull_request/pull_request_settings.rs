use std::fmt;

use quillgate::credential::{BaseUrl, is_header_value};

use crate::http::response::HeaderFields;
use crate::upstream::request::USER_AGENT;
use crate::upstream::upstream_settings::read_base_url;
use crate::variable::{VariableError, Variables, read_variable, variables};

variables! {
    /// The token with which the gateway reads the state of pull requests.
    GITHUB_TOKEN: Secret = "none";
    /// Whether the gateway reads the state of pull requests. By default only with a `GITHUB_TOKEN`.
    PULL_REQUEST_STATES: Var = "off";
    /// The base URL of GitHub's API.
    GITHUB_API_URL: Var = "https://api.github.com";
}

const GITHUB_API: &str = "https://api.github.com";
const API_VERSION: &str = "2022-11-28";

/// A token for GitHub's API. `Debug` does not print the token.
#[derive(Clone, PartialEq, Eq)]
struct GitHubToken(String);

impl fmt::Debug for GitHubToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GitHubToken(…)")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestSettings {
    pub base_url: BaseUrl,
    /// Without a token, GitHub returns only public repositories.
    token: Option<GitHubToken>,
}

impl PullRequestSettings {
    /// `None` if requests to GitHub are off, which is the default without a token.
    pub fn read(variables: Variables<'_>) -> Result<Option<Self>, VariableError> {
        // All three variables are read even if requests are off: `check_config` records which names
        // are read, and reports other names as unknown.
        let token = read_variable("GITHUB_TOKEN", variables, parse_token)?;
        let base_url = read_base_url("GITHUB_API_URL", variables, GITHUB_API)?;
        let switch = read_variable("PULL_REQUEST_STATES", variables, |value| match value {
            "on" => Ok(Some(true)),
            "off" => Ok(Some(false)),
            _ => Err("must be on or off"),
        })?;
        let is_on = switch.unwrap_or(token.is_some());
        Ok(is_on.then_some(Self { base_url, token }))
    }

    pub fn headers(&self) -> HeaderFields {
        let headers = HeaderFields::default()
            .with("accept", "application/vnd.github+json")
            .with("user-agent", USER_AGENT)
            .with("x-github-api-version", API_VERSION);
        match &self.token {
            Some(GitHubToken(token)) => headers.with("authorization", format!("Bearer {token}")),
            None => headers,
        }
    }
}

/// An admin key of Mintlify must not be sent to GitHub.
fn parse_token(token: &str) -> Result<Option<GitHubToken>, &'static str> {
    if is_header_value(token) && !token.starts_with("mint_") {
        return Ok(Some(GitHubToken(token.to_owned())));
    }
    Err("must be a token of GitHub: visible ASCII without spaces, not a key of Mintlify")
}
