//! Why Mintlify, or the network in front of it, refused a request (docs/mintlify/rules.md, 5).
//! Mintlify publishes neither statuses nor messages, so the rules go by words. `cf-ray` proves
//! nothing: Cloudflare adds it to every response.

use serde_json::Value;

use crate::json;
use crate::upstream::head::UpstreamHead;

/// None of these reasons is the caller's fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Key,
    Plan,
    /// Unknown, or of another organization.
    Project,
    /// The network in front of Mintlify blocked the request.
    Network,
}

impl Refusal {
    /// `body` is empty if it is not readable.
    pub fn classify(head: &UpstreamHead, body: &str) -> Option<Self> {
        let status = head.status;
        let is_refusal = matches!(status, 401 | 403);
        if (is_refusal || status == 404) && is_from_network(head, body) {
            return is_refusal.then_some(Self::Network);
        }
        let message = read_text(body).to_ascii_lowercase();
        match status {
            401..=403 if has_word(&message, PLAN_WORDS) => Some(Self::Plan),
            401 | 403 if KEY_PHRASES.iter().any(|phrase| message.contains(phrase)) => {
                Some(Self::Key)
            }
            401 | 403 if has_word(&message, PROJECT_WORDS) => Some(Self::Project),
            401 | 403 => Some(Self::Key),
            400 | 404 | 422 => {
                let error = json::parse_lossy(body)?;
                has_rejection(&error).then_some(Self::Project)
            }
            _ => None,
        }
    }
}

/// A 404 for the project, or from the network in front of Mintlify, does not concern the job or the
/// thread.
pub fn is_missing(head: &UpstreamHead, body: &str) -> bool {
    head.status == 404 && !is_from_network(head, body) && Refusal::classify(head, body).is_none()
}

/// The network's own errors are JSON objects. Mintlify's 401 can be text, so only a page or an
/// error of Cloudflare counts there.
fn is_from_network(head: &UpstreamHead, body: &str) -> bool {
    if head.headers.get("cf-mitigated").is_some() {
        return true;
    }
    let body = body.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let is_foreign = match head.status {
        401 => is_page(head, body),
        // The prefix also identifies an object that is cut off or has duplicate names.
        _ => !body.starts_with('{'),
    };
    is_foreign || is_from_cloudflare(body)
}

/// Servers also send plain text as `text/html`, so the type decides only for an empty body.
fn is_page(head: &UpstreamHead, body: &str) -> bool {
    let is_html = |kind: &str| kind.to_ascii_lowercase().starts_with("text/html");
    if body.is_empty() {
        head.headers.get("content-type").is_some_and(is_html)
    } else {
        body.starts_with('<')
    }
}

/// Cloudflare sends its errors as JSON to clients that accept JSON, otherwise as text.
fn is_from_cloudflare(body: &str) -> bool {
    let is_documented = |kind: &str| kind.starts_with("https://developers.cloudflare.com/");
    let is_marked = |error: &Value| {
        json::is_true(error, "cloudflare_error")
            || json::text(error, "type").is_some_and(is_documented)
    };
    json::parse_lossy(body).is_some_and(|error| is_marked(&error))
        || read_text(body)
            .to_ascii_lowercase()
            .contains("error code: 1")
}

fn read_text(body: &str) -> String {
    let messages = read_messages(body);
    if messages.is_empty() {
        body.to_owned()
    } else {
        messages
    }
}

pub fn read_messages(body: &str) -> String {
    let mut messages = Vec::new();
    if let Some(error) = json::parse_lossy(body) {
        push_strings(&error, &mut messages);
    }
    messages.join("; ")
}

fn push_strings(value: &Value, strings: &mut Vec<String>) {
    match value {
        Value::String(text) => strings.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| push_strings(item, strings)),
        Value::Object(members) => members
            .values()
            .for_each(|item| push_strings(item, strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

const PLAN_WORDS: &str = "upgrade upgrading plan plans subscription subscribe billing pricing paid \
    payment tier trial enterprise hobby starter premium";
const KEY_PHRASES: [&str; 5] = [
    "invalid api key",
    "invalid key",
    "invalid token",
    "expired",
    "revoked",
];
const PROJECT_WORDS: &str = "project projects projectid deployment deployments subdomain";

/// In `error` or `message`, or in an object with these members in one of them.
fn has_rejection(error: &Value) -> bool {
    let mut reasons = ["error", "message"]
        .iter()
        .filter_map(|name| error.get(name));
    reasons.any(|reason| match reason {
        Value::String(text) => rejects_project(&text.to_ascii_lowercase()),
        other => has_rejection(other),
    })
}

/// Such as "project abc not found". A part of the project, such as a job or a branch, is the
/// caller's concern.
fn rejects_project(reason: &str) -> bool {
    let parts = "job jobs run runs thread threads conversation conversations message session \
         cursor datefrom dateto ref branch repository repo file page setting settings";
    if has_word(reason, parts) {
        return false;
    }
    let fillers = ["the", "a", "this", "that", "your", "requested", "specified"];
    let words: Vec<_> = split_words(reason)
        .filter(|word| !fillers.contains(word))
        // The end of "doesn't" and "couldn't".
        .map(|word| if word == "t" { "not" } else { word })
        .collect();
    words.iter().enumerate().any(|(at, word)| {
        let (before, after) = (&words[..at], &words[at + 1..]);
        has_word(word, PROJECT_WORDS)
            && (is_object_of_rejection(before) || is_subject_of_rejection(before, after))
    })
}

/// As in "invalid project".
fn is_object_of_rejection(before: &[&str]) -> bool {
    let endings = "invalid|unknown|no|no such|not find|cannot find|access to";
    split_phrases(endings).any(|ending| before.ends_with(&ending))
}

/// As in "project with id abc could not be found", but not in "the limit of project abc is
/// invalid".
fn is_subject_of_rejection(before: &[&str], after: &[&str]) -> bool {
    let prepositions = ["of", "in", "for", "within", "by"];
    if before
        .last()
        .is_some_and(|word| prepositions.contains(word))
    {
        return false;
    }
    let verbs = "is was does could can isn wasn doesn couldn";
    let verdicts = "not found|not be found|cannot be found|not exist|not valid|not belong|\
        belongs to|invalid|unknown";
    let starts_with_verdict = |words: &[&str]| {
        let words = skip_words(words, verbs);
        split_phrases(verdicts).any(|verdict| words.starts_with(&verdict))
    };
    let rest = skip_words(after, "with id identifier slug");
    // The first word can be an id.
    starts_with_verdict(rest)
        || rest
            .split_first()
            .is_some_and(|(id, rest)| *id != "s" && starts_with_verdict(rest))
}

fn split_phrases(phrases: &str) -> impl Iterator<Item = Vec<&str>> {
    phrases.split('|').map(|phrase| phrase.split(' ').collect())
}

fn skip_words<'a>(words: &'a [&'a str], skipped: &str) -> &'a [&'a str] {
    let is_kept = |word: &&str| !skipped.split(' ').any(|own| own == *word);
    let start = words.iter().position(is_kept).unwrap_or(words.len());
    &words[start..]
}

fn has_word(message: &str, words: &str) -> bool {
    split_words(message).any(|word| words.split(' ').any(|own| own == word))
}

/// Names such as `growth-plan`, and addresses, are single words.
fn split_words(message: &str) -> impl Iterator<Item = &str> {
    let is_separator = |c: char| c.is_whitespace() || "\"'’`.,;:!?()[]".contains(c);
    message.split(is_separator).filter(|word| !word.is_empty())
}
