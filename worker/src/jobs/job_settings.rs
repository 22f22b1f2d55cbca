use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quillgate::{Millis, RateLimitPolicy};

use crate::budget::limits::Limits;
use crate::http::url::{is_host, is_secure_url, lowercase_origin};
use crate::jobs::poll::UNWATCHED_PAUSE;
use crate::jobs::poll_budget::PollBudget;
use crate::jobs::records::KeepPrompts;
use crate::variable::{Integer, VariableError, Variables, read_variable, split_list, variables};

variables! {
    /// Minimum interval between polls of a watched job, in seconds. It grows to a 120th of the
    /// job's age. The default `JOB_POLLS_PER_HOUR` allows only longer intervals.
    JOB_POLL_SECONDS: Var = 5 in 1..=300;
    /// Maximum number of polls per project and window, for jobs created through the gateway. The
    /// default is a fifth of `CREATE_LIMIT_PER_HOUR`, at least 20: see
    /// [Polls](../explanation/budgets.md#polls).
    JOB_POLLS_PER_HOUR: Var = 20 in 1..=1_000_000;
    /// How long the gateway polls a job after the job last started, in seconds. Then watchers
    /// receive the event `end`, and the gateway logs a line.
    JOB_POLL_LIMIT_SECONDS: Var = 86_400 in 1..=86_400;
    /// How long the gateway stores a record after the job last started, in days.
    JOB_RETENTION_DAYS: Var = 90 in 1..=3_650;
    /// How much of prompts and follow-ups the gateway stores. `first-line` is at most 120
    /// characters: see [Data](../operate/data.md#what-is-stored-of-jobs).
    KEEP_PROMPTS: Var = "whole";
    /// Maximum number of open streams and long polls per caller and project.
    STREAMS_PER_CALLER: Var = 100 in 1..=1_000_000;
    /// Maximum number of open streams and long polls per job, and of streams of a project's list.
    STREAMS_PER_JOB: Var = 1_000 in 1..=1_000_000;
    /// The secret from which each receiver's key is derived. Required with `WEBHOOK_URL`. Of
    /// several, all sign.
    WEBHOOK_SECRET: Secret = "none";
    /// Receives a webhook for every job and deployment that ends, unless the request that started
    /// it has `Webhook-Url`.
    WEBHOOK_URL: SecretOrVar = "none";
    /// The hosts, with their ports, that callers may use in `Webhook-Url`. Without any, the gateway
    /// rejects `Webhook-Url`.
    WEBHOOK_HOSTS: Var = "none";
}

pub struct JobSettings {
    pub poll_interval: Millis,
    pub webhook_poll_interval: Millis,
    pub poll_duration: Millis,
    /// For jobs: see [`DEPLOYMENT_POLL_LIMIT`].
    pub poll_budget: PollBudget,
    pub keep_prompts: KeepPrompts,
    pub retention: Millis,
    pub streams_per_caller: u32,
    pub streams_per_job: u32,
    pub webhook: WebhookSettings,
}

impl JobSettings {
    pub fn read(variables: Variables<'_>, limits: &Limits) -> Result<Self, VariableError> {
        // The default is a fifth of Mintlify's published limit of 100 job creations per project
        // and hour, because Mintlify may count polls against that limit. A lower configured limit
        // for creations does not change Mintlify's own limit.
        let created = limits.limit(RateLimitPolicy::CreateJob);
        let polls = Integer {
            default: JOB_POLLS_PER_HOUR.default.max(created / 5),
            ..JOB_POLLS_PER_HOUR
        };
        let poll_interval = JOB_POLL_SECONDS.read_seconds(variables)?;
        Ok(Self {
            poll_interval,
            webhook_poll_interval: poll_interval.max(UNWATCHED_PAUSE),
            poll_duration: JOB_POLL_LIMIT_SECONDS.read_seconds(variables)?,
            poll_budget: PollBudget {
                limit: polls.read(variables)?,
                window: limits.window,
            },
            keep_prompts: read_variable("KEEP_PROMPTS", variables, parse_keep_prompts)?,
            retention: Millis::from_seconds(
                u64::from(JOB_RETENTION_DAYS.read(variables)?) * 86_400,
            ),
            streams_per_caller: STREAMS_PER_CALLER.read(variables)?,
            streams_per_job: STREAMS_PER_JOB.read(variables)?,
            webhook: WebhookSettings::read(variables)?,
        })
    }
}

/// A deployment takes about 90 seconds, and Mintlify states no limit for reads of deployments.
pub const DEPLOYMENT_POLL_LIMIT: u32 = 600;

#[derive(Clone)]
pub struct WebhookSettings {
    pub url: Option<String>,
    /// 24 to 64 bytes each. Without secrets, webhooks are off.
    pub secrets: Vec<Vec<u8>>,
    /// As `host` or `host:port`. Without hosts, every `Webhook-Url` is rejected.
    pub hosts: Vec<String>,
}

impl WebhookSettings {
    fn read(variables: Variables<'_>) -> Result<Self, VariableError> {
        let settings = Self {
            url: read_variable("WEBHOOK_URL", variables, parse_webhook_url)?,
            secrets: read_variable("WEBHOOK_SECRET", variables, parse_webhook_secrets)?,
            hosts: read_variable("WEBHOOK_HOSTS", variables, parse_webhook_hosts)?,
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

fn parse_webhook_url(url: &str) -> Result<Option<String>, &'static str> {
    if is_secure_url(url) {
        return Ok(Some(lowercase_origin(url)));
    }
    Err("must be an absolute https URL, or http on this machine, without credentials or fragment")
}

/// In the notation of Standard Webhooks.
fn parse_webhook_secrets(secrets: &str) -> Result<Vec<Vec<u8>>, &'static str> {
    let secret = |text: &str| {
        let secret = STANDARD.decode(text.trim().strip_prefix("whsec_")?).ok()?;
        (24..=64).contains(&secret.len()).then_some(secret)
    };
    let secrets = secrets.split(',').map(secret).collect::<Option<_>>();
    secrets.ok_or(
        "must be whsec_ and the base64 of 24 to 64 bytes, or several of them separated by commas",
    )
}

fn parse_webhook_hosts(hosts: &str) -> Result<Vec<String>, &'static str> {
    let hosts = split_list(Some(hosts));
    let are_valid = hosts.iter().all(|host| is_host(host));
    are_valid.then_some(hosts).ok_or(
        "must be hosts such as hooks.example or hooks.example:8443, in lower case and separated by commas",
    )
}

fn parse_keep_prompts(name: &str) -> Result<KeepPrompts, &'static str> {
    let all = [KeepPrompts::FirstLine, KeepPrompts::Whole];
    let named = all.into_iter().find(|keep| keep.name() == name);
    named.ok_or("must be first-line or whole")
}
