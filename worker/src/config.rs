//! The Worker's variables and secrets, read and checked once.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate::credential::{AdminKey, BaseUrl};
use quillgate::{Method, Millis, ProjectId};

use crate::analytics::waiting_exports::WaitingLimits;
use crate::auth::oidc::{TrustedIssuer, read_trusted_issuers};
use crate::auth::revocation::RevokedTokens;
use crate::auth::session::sign_in::{SignInIssuer, assign_secrets, read_sign_in_issuers};
use crate::auth::turnstile::Turnstile;
use crate::http::url::{is_host, is_origin, is_secure_url};
use crate::jobs::ledger::KeepPrompts;
use crate::jobs::poll_budget::PollBudget;
use crate::jobs::webhook::normalize_address;
use crate::variable::{Range, VariableError, read_integer, read_json, split_list};
use quillgate::Policy;

/// The Worker's configuration.
pub struct Config {
    /// The upstream, to which requests go.
    pub upstream: BaseUrl,
    /// The platform's admin keys, newest first: one, or two while they rotate.
    pub admin_keys: Vec<AdminKey>,
    /// Admin keys that may only read, for requests that only read, newest first: none, one or two.
    pub read_keys: Vec<AdminKey>,
    /// The keys of the gateway's own access tokens: the first signs, all verify.
    pub token_secrets: Vec<Vec<u8>>,
    /// The other issuers whose access tokens are accepted.
    pub trusted_issuers: Vec<TrustedIssuer>,
    /// Those of them at which people sign in to the page.
    pub sign_in_issuers: Vec<SignInIssuer>,
    /// The access tokens that are no longer accepted.
    pub revoked: RevokedTokens,
    /// The origins that a browser may call from.
    pub allowed_origins: Vec<String>,
    /// How long the upstream may take for the head of its answer, and for the body of an error.
    pub upstream_timeout: Millis,
    /// How many jobs may be created in a project within a window.
    pub create_limit: u32,
    /// How many follow-ups may be sent in a project within a window.
    pub message_limit: u32,
    /// How many requests for analytics all callers together may make within a window.
    pub analytics_limit: u32,
    /// How many requests that read jobs a caller may make in a project within a window.
    pub read_limit: u32,
    /// How long a window is.
    pub limit_window: Millis,
    /// How long analytics of a range that did not end before yesterday stay fresh.
    pub analytics_fresh: Millis,
    /// The interval at which a job is polled while it is watched.
    pub job_poll: Millis,
    /// The maximum number of polls of a project's own jobs in a window.
    pub poll_limit: u32,
    /// For how long a job is polled after it was set to work.
    pub job_poll_limit: Millis,
    /// What is kept of prompts with the record of a job.
    pub keep_prompts: KeepPrompts,
    /// How long the record of a job is kept after it was set to work.
    pub job_retention: Millis,
    /// How many streams of a project a caller may have open.
    pub streams_per_caller: u32,
    /// How many streams of a job may be open.
    pub streams_per_job: u32,
    /// Maximum numbers of exports that wait for the budget.
    pub waiting_exports: WaitingLimits,
    /// Where and how the end of a job is announced.
    pub webhook: WebhookSettings,
    /// How browsers are checked for a person; `None` when they are not.
    pub turnstile: Option<Turnstile>,
    /// What is archived.
    pub archive: ArchiveSettings,
}

/// The daily archive's settings.
pub struct ArchiveSettings {
    /// The projects whose days are kept: none when there is no archive.
    pub projects: Vec<String>,
    /// The part of the budget for analytics that it may use, in percent.
    pub share: u32,
    /// How many days are kept.
    pub retention_days: u32,
    /// On how many days after its first a day is fetched again.
    pub recheck_days: u32,
}

/// The webhooks' settings.
pub struct WebhookSettings {
    /// The address for jobs whose creator names none, with its host in lower case.
    pub url: Option<String>,
    /// The secrets from which each receiver's keys are derived, of 24 to 64 bytes each; all of them
    /// sign. Without any there are no webhooks.
    pub secrets: Vec<Vec<u8>>,
    /// The hosts that a job's creator may name, as `host` or `host:port`: none when this is empty.
    pub hosts: Vec<String>,
}

/// The shortest key for HS256, in bytes: as long as the hash (RFC 7518, section 3.2).
const LEAST_SECRET: usize = 32;

/// A fifth of Mintlify's published limit of 100 creations per project and hour, against which it
/// may count polls as well.
const DEFAULT_POLL_LIMIT: u32 = 20;

/// Computes the default of `JOB_POLLS_PER_HOUR`: a fifth of the limit for creations if that was
/// raised. A lower one does not change what Mintlify permits.
fn default_poll_limit(create_limit: u32) -> u32 {
    DEFAULT_POLL_LIMIT.max(create_limit / 5)
}

impl Config {
    /// Reads the variables through `variable`; one that is blank counts as not set.
    ///
    /// # Errors
    /// The first variable that is missing or malformed.
    ///
    /// # Example
    /// ```
    /// use quillgate_worker::config::Config;
    ///
    /// let error = Config::read(|_| None).err().unwrap();
    /// assert_eq!(error.to_string(), "ADMIN_API_KEY is not set");
    /// ```
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, VariableError> {
        let value = |name: &str| {
            let value = variable(name)?;
            let value = value.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let integer = |name, default, range| read_integer(name, value(name), default, range);
        let seconds = |name, default, range| {
            integer(name, default, range).map(|seconds| Millis::from_seconds(seconds.into()))
        };
        let trusted_issuers = read_json("TRUSTED_ISSUERS", value, read_trusted_issuers)?;
        let create_limit = integer("CREATE_LIMIT_PER_HOUR", 100, Range::ToMillion)?;
        Ok(Self {
            admin_keys: read_admin_keys("ADMIN_API_KEY", value("ADMIN_API_KEY"), Need::Required)?,
            read_keys: read_admin_keys("ADMIN_READ_KEY", value("ADMIN_READ_KEY"), Need::Optional)?,
            token_secrets: read_token_secrets(value("ACCESS_TOKEN_SECRET"))?,
            revoked: RevokedTokens::read(value, &trusted_issuers)?,
            sign_in_issuers: read_sign_in(value, &trusted_issuers)?,
            trusted_issuers,
            upstream: read_upstream(value("UPSTREAM_BASE_URL"))?,
            allowed_origins: read_allowed_origins(value("ALLOWED_ORIGINS").as_deref())?,
            upstream_timeout: seconds("UPSTREAM_TIMEOUT_SECONDS", 30, Range::To300)?,
            create_limit,
            message_limit: integer("MESSAGE_LIMIT_PER_HOUR", 100, Range::ToMillion)?,
            analytics_limit: integer("ANALYTICS_LIMIT_PER_HOUR", 100, Range::ToMillion)?,
            read_limit: integer("READ_LIMIT_PER_HOUR", 6_000, Range::ToMillion)?,
            limit_window: seconds("LIMIT_WINDOW_SECONDS", 3600, Range::ToDay)?,
            analytics_fresh: seconds("ANALYTICS_FRESH_SECONDS", 300, Range::ToDay)?,
            job_poll: seconds("JOB_POLL_SECONDS", 5, Range::To300)?,
            poll_limit: integer(
                "JOB_POLLS_PER_HOUR",
                default_poll_limit(create_limit),
                Range::ToMillion,
            )?,
            job_poll_limit: seconds("JOB_POLL_LIMIT_SECONDS", 86_400, Range::ToDay)?,
            keep_prompts: read_keep_prompts(value("KEEP_PROMPTS").as_deref())?,
            job_retention: integer("JOB_RETENTION_DAYS", 90, Range::ToTenYears).map(from_days)?,
            streams_per_caller: integer("STREAMS_PER_CALLER", 100, Range::ToMillion)?,
            streams_per_job: integer("STREAMS_PER_JOB", 1_000, Range::ToMillion)?,
            waiting_exports: WaitingLimits {
                per_caller: integer("WAITING_EXPORTS_PER_CALLER", 10, Range::ToMillion)?,
                per_organization: integer("WAITING_EXPORTS", 100, Range::ToMillion)?,
            },
            webhook: WebhookSettings::read(value)?,
            turnstile: Turnstile::read(value)?,
            archive: ArchiveSettings {
                projects: read_archive_projects(value("ARCHIVE_PROJECTS").as_deref())?,
                share: integer("ARCHIVE_SHARE", 33, Range::ToHundred)?,
                retention_days: integer("ARCHIVE_RETENTION_DAYS", 730, Range::ToTenYears)?,
                recheck_days: integer("ARCHIVE_RECHECK_DAYS", 3, Range::ToHundred)?,
            },
        })
    }
}

impl Config {
    /// The admin keys with which a request may be sent, newest first; there are several only while
    /// they rotate.
    #[must_use]
    pub fn keys(&self, method: Method) -> &[AdminKey] {
        match method {
            Method::Get if !self.read_keys.is_empty() => &self.read_keys,
            Method::Get | Method::Post | Method::Delete => &self.admin_keys,
        }
    }

    /// The variable that holds [`Self::keys`].
    #[must_use]
    pub fn key_variable(&self, method: Method) -> &'static str {
        match method {
            Method::Get if !self.read_keys.is_empty() => "ADMIN_READ_KEY",
            Method::Get | Method::Post | Method::Delete => "ADMIN_API_KEY",
        }
    }

    /// The budget for polling a project's own jobs.
    #[must_use]
    pub const fn poll_budget(&self) -> PollBudget {
        PollBudget {
            limit: self.poll_limit,
            window: self.limit_window,
        }
    }

    /// How many requests a policy allows in any window, from 1.
    #[must_use]
    pub const fn limit(&self, policy: Policy) -> u32 {
        match policy {
            Policy::CreateJob => self.create_limit,
            Policy::SendMessage => self.message_limit,
            Policy::Analytics => self.analytics_limit,
            Policy::ReadJobs => self.read_limit,
        }
    }
}

impl Config {
    /// How many requests the archive may make in any window: at least one.
    #[must_use]
    pub const fn archive_limit(&self) -> u32 {
        let share = self.analytics_limit as u64 * self.archive.share as u64 / 100;
        match share {
            0 => 1,
            // At most the limit, which is of this type.
            #[expect(clippy::cast_possible_truncation, reason = "at most the limit")]
            share => share as u32,
        }
    }

    /// Whether the days of a project are kept.
    #[must_use]
    pub fn archives(&self, project: &str) -> bool {
        self.archive.projects.iter().any(|own| own == project)
    }
}

fn from_days(days: u32) -> Millis {
    Millis::from_seconds(u64::from(days) * 86_400)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

fn read_admin_keys(
    variable: &'static str,
    value: Option<String>,
    need: Need,
) -> Result<Vec<AdminKey>, VariableError> {
    let error = |rule| VariableError { variable, rule };
    let Some(value) = value else {
        return match need {
            Need::Required => Err(error("is not set")),
            Need::Optional => Ok(Vec::new()),
        };
    };
    let keys: Result<Vec<_>, _> = value
        .split(',')
        .map(|key| AdminKey::new(key.trim()))
        .collect();
    keys.ok().filter(|keys| keys.len() <= 2).ok_or(error(
        "must be an admin key, which begins with mint_ and not with mint_dsc_ or mint_us_, or two of them separated by a comma",
    ))
}

fn read_token_secrets(value: Option<String>) -> Result<Vec<Vec<u8>>, VariableError> {
    let error = |rule| VariableError {
        variable: "ACCESS_TOKEN_SECRET",
        rule,
    };
    let value = value.ok_or(error("is not set"))?;
    let secrets: Vec<_> = value
        .split(',')
        .map(|secret| secret.trim().as_bytes().to_vec())
        .collect();
    if secrets.iter().any(|secret| secret.len() < LEAST_SECRET) {
        return Err(error(
            "must be at least 32 bytes, or several secrets of that length separated by commas",
        ));
    }
    Ok(secrets)
}

fn read_sign_in(
    value: impl Fn(&str) -> Option<String>,
    trusted: &[TrustedIssuer],
) -> Result<Vec<SignInIssuer>, VariableError> {
    let secret = value("SIGN_IN_CLIENT_SECRET");
    let read = |json: &str| read_sign_in_issuers(json, trusted);
    let mut issuers = read_json("SIGN_IN_ISSUERS", value, read)?;
    assign_secrets(&mut issuers, secret).map_err(|rule| VariableError {
        variable: "SIGN_IN_CLIENT_SECRET",
        rule,
    })?;
    Ok(issuers)
}

/// The admin key is sent there, so it has to be `https`, except on this machine.
fn read_upstream(value: Option<String>) -> Result<BaseUrl, VariableError> {
    let url = value.unwrap_or_else(|| BaseUrl::UPSTREAM.to_owned());
    BaseUrl::for_admin_key(&url).map_err(|_| VariableError {
        variable: "UPSTREAM_BASE_URL",
        rule: "must be an absolute https URL, or http on this machine, without credentials, query or fragment",
    })
}

impl WebhookSettings {
    fn read(value: impl Fn(&str) -> Option<String>) -> Result<Self, VariableError> {
        let settings = Self {
            url: read_webhook_url(value("WEBHOOK_URL"))?,
            secrets: read_webhook_secrets(value("WEBHOOK_SECRET").as_deref())?,
            hosts: read_webhook_hosts(value("WEBHOOK_HOSTS").as_deref())?,
        };
        if settings.url.is_some() && settings.secrets.is_empty() {
            return Err(VariableError {
                variable: "WEBHOOK_SECRET",
                rule: "is not set, and must be when WEBHOOK_URL is",
            });
        }
        Ok(settings)
    }
}

fn read_webhook_url(value: Option<String>) -> Result<Option<String>, VariableError> {
    match value {
        Some(url) if !is_secure_url(&url) => Err(VariableError {
            variable: "WEBHOOK_URL",
            rule: "must be an absolute https URL, or http on this machine, without credentials or fragment",
        }),
        url => Ok(url.as_deref().map(normalize_address)),
    }
}

/// Reads secrets in the notation of Standard Webhooks.
fn read_webhook_secrets(value: Option<&str>) -> Result<Vec<Vec<u8>>, VariableError> {
    let secret = |text: &str| {
        let secret = STANDARD.decode(text.trim().strip_prefix("whsec_")?).ok()?;
        (24..=64).contains(&secret.len()).then_some(secret)
    };
    let secrets = value.map_or(Some(Vec::new()), |value| {
        value.split(',').map(secret).collect()
    });
    secrets.ok_or(VariableError {
        variable: "WEBHOOK_SECRET",
        rule: "must be whsec_ and the base64 of 24 to 64 bytes, or several of them separated by commas",
    })
}

fn read_webhook_hosts(value: Option<&str>) -> Result<Vec<String>, VariableError> {
    let hosts = split_list(value);
    if hosts.iter().all(|host| is_host(host)) {
        return Ok(hosts);
    }
    Err(VariableError {
        variable: "WEBHOOK_HOSTS",
        rule: "must be hosts such as hooks.example or hooks.example:8443, in lower case and separated by commas",
    })
}

fn read_allowed_origins(value: Option<&str>) -> Result<Vec<String>, VariableError> {
    let origins = split_list(value);
    if origins.iter().all(|origin| is_origin(origin)) {
        return Ok(origins);
    }
    Err(VariableError {
        variable: "ALLOWED_ORIGINS",
        rule: "must be exact origins such as https://docs.example, separated by commas",
    })
}

fn read_keep_prompts(value: Option<&str>) -> Result<KeepPrompts, VariableError> {
    let kept = value.map_or(Some(KeepPrompts::FirstLine), KeepPrompts::from_name);
    kept.ok_or(VariableError {
        variable: "KEEP_PROMPTS",
        rule: "must be first-line or whole",
    })
}

fn read_archive_projects(value: Option<&str>) -> Result<Vec<String>, VariableError> {
    let projects = split_list(value);
    let is_id = |project: &String| ProjectId::new(project.as_str()).is_ok();
    if projects.iter().all(is_id) {
        return Ok(projects);
    }
    Err(VariableError {
        variable: "ARCHIVE_PROJECTS",
        rule: "must be ids of projects, separated by commas",
    })
}
