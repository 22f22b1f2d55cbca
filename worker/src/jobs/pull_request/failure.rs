use quillgate::Millis;

/// GitHub's documentation specifies one minute.
const MIN_PAUSE: Millis = Millis::from_seconds(60);
/// GitHub's primary rate limits are per hour.
const MAX_PAUSE: Millis = Millis::from_seconds(3_600);
/// A refusal expires, because the token can gain access later.
const REFUSED_FOR: Millis = Millis::from_seconds(600);
const FAILED_FOR: Millis = Millis::from_seconds(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitHubFailure {
    /// Until this time.
    Limited(Millis),
    /// A status from 300 to 499: the token lacks access, or the pull request does not exist or was
    /// renamed.
    Refused(u16),
    Failed,
}

impl GitHubFailure {
    /// Returns `None` for a 200. GitHub responds 403 or 429 when a rate limit is reached.
    pub fn of_response<'a>(
        status: u16,
        field: impl Fn(&str) -> Option<&'a str>,
        now: Millis,
    ) -> Option<Self> {
        let number = |name| field(name).and_then(|text| text.parse::<u64>().ok());
        let retry_after = number("retry-after");
        let is_spent = number("x-ratelimit-remaining") == Some(0);
        match status {
            200 => None,
            403 | 429 if status == 429 || is_spent || retry_after.is_some() => {
                let after = |seconds: u64| now.plus(Millis(seconds.saturating_mul(1_000)));
                let reset = || Some(Millis(number("x-ratelimit-reset")?.saturating_mul(1_000)));
                let until = retry_after.map(after).or_else(reset).unwrap_or(now);
                Some(Self::Limited(
                    until.clamp(now.plus(MIN_PAUSE), now.plus(MAX_PAUSE)),
                ))
            }
            300..=499 => Some(Self::Refused(status)),
            _ => Some(Self::Failed),
        }
    }

    pub fn fresh_until(self, now: Millis) -> Millis {
        match self {
            Self::Limited(until) => until,
            Self::Refused(_) => now.plus(REFUSED_FOR),
            Self::Failed => now.plus(FAILED_FOR),
        }
    }

    /// `None` if the operator cannot fix the failure.
    pub fn describe(self) -> Option<String> {
        match self {
            Self::Refused(401) => Some("GitHub answered 401: GITHUB_TOKEN is not valid".to_owned()),
            Self::Refused(status) => Some(format!(
                "GitHub answered {status} for the pull request of a job: GITHUB_TOKEN may lack access"
            )),
            Self::Limited(_) => {
                Some("GitHub limits requests for the states of pull requests".to_owned())
            }
            Self::Failed => None,
        }
    }
}
