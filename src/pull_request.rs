//! Links to pull requests at GitHub, GitLab and Bitbucket. A job's `prLink` can lead to each of
//! them, and to an installation of one's own.

use std::fmt;

/// The maximum number of characters in one segment of a repository's path.
const MAX_SEGMENT: usize = 100;
/// The maximum number of digits in a pull request's number.
const MAX_DIGITS: usize = 10;

/// The kind of a repository host, which the path of a link shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepositoryHost {
    /// GitHub or GitHub Enterprise: `/{owner}/{repository}/pull/{number}`.
    GitHub,
    /// GitLab, whose groups can be nested: `/{group}/{repository}/-/merge_requests/{number}`.
    GitLab,
    /// Bitbucket Cloud: `/{workspace}/{repository}/pull-requests/{number}`.
    BitbucketCloud,
    /// Bitbucket Server or Data Center, possibly below a context path:
    /// `/projects/{key}/repos/{repository}/pull-requests/{number}`.
    BitbucketServer,
}

/// A link to a pull request, or to a merge request of GitLab.
///
/// The fields contain no character that could change the URL of a request.
///
/// ```
/// use quillgate::PullRequestLink;
///
/// let name = |link| PullRequestLink::parse(link).map(|link| link.to_string());
/// let gitlab = name("https://gitlab.com/acme/guides/docs/-/merge_requests/3");
/// assert_eq!(gitlab.as_deref(), Some("acme/guides/docs!3"));
/// let github = name("https://git.acme.example/acme/docs/pull/12/files");
/// assert_eq!(github.as_deref(), Some("acme/docs#12"));
/// assert_eq!(name("https://github.com/acme/docs"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PullRequestLink {
    /// The host in lower case, with a port other than 443.
    pub host: String,
    /// The kind of the host.
    pub kind: RepositoryHost,
    /// The path of the repository, such as `acme/docs`.
    pub repository: String,
    /// The number of the pull request in its repository.
    pub number: u64,
}

impl PullRequestLink {
    /// Parses a link. Ignores the query, the fragment and what follows the number, such as
    /// `/files`. Returns `None` for other pages, and unless the link is `https` without
    /// credentials.
    #[must_use]
    pub fn parse(link: &str) -> Option<Self> {
        let (scheme, rest) = link.trim().split_once("://")?;
        let rest = rest.split(['?', '#']).next()?;
        let (authority, path) = rest.split_once('/')?;
        if !scheme.eq_ignore_ascii_case("https") || !authority.bytes().all(is_host_byte) {
            return None;
        }
        let host = authority.to_ascii_lowercase();
        let host = host.strip_suffix(":443").unwrap_or(&host);
        let (kind, repository, number) = find_repository(&path.split('/').collect::<Vec<_>>())?;
        let fits = !host.is_empty() && repository.iter().all(|segment| is_segment(segment));
        fits.then(|| Self {
            host: host.to_owned(),
            kind,
            repository: repository.join("/"),
            number,
        })
    }
}

/// Formats the short name: `acme/docs#12`, at GitLab `acme/docs!12`.
impl fmt::Display for PullRequestLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.kind {
            RepositoryHost::GitLab => '!',
            _ => '#',
        };
        write!(f, "{}{mark}{}", self.repository, self.number)
    }
}

/// Returns the kind of the host, the repository and the number that a path names.
fn find_repository<'a>(path: &[&'a str]) -> Option<(RepositoryHost, Vec<&'a str>, u64)> {
    // Earlier releases of GitLab had no `-` in the path.
    if let Some(end) = path
        .iter()
        .rposition(|segment| *segment == "merge_requests")
        && let Some(number) = path.get(end + 1).and_then(|text| parse_number(text))
    {
        let repository = path.get(..end)?;
        let repository = repository.strip_suffix(&["-"]).unwrap_or(repository);
        let is_in_group = repository.len() > 1;
        return is_in_group.then(|| (RepositoryHost::GitLab, repository.to_vec(), number));
    }
    let server = path.windows(6).find_map(|window| match window {
        ["projects", key, "repos", name, "pull-requests", number] => Some((*key, *name, *number)),
        _ => None,
    });
    let (kind, owner, name, number) = match (server, path) {
        (Some((key, name, number)), _) => (RepositoryHost::BitbucketServer, key, name, number),
        (None, [owner, name, "pull", number, ..]) => {
            (RepositoryHost::GitHub, *owner, *name, *number)
        }
        (None, [owner, name, "pull-requests", number, ..]) => {
            (RepositoryHost::BitbucketCloud, *owner, *name, *number)
        }
        _ => return None,
    };
    Some((kind, vec![owner, name], parse_number(number)?))
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-.:".contains(&byte)
}

fn is_segment(segment: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let is_name = !matches!(segment, "." | "..");
    is_name && (1..=MAX_SEGMENT).contains(&segment.len()) && segment.bytes().all(fits)
}

fn parse_number(text: &str) -> Option<u64> {
    let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let fits = is_digits && text.len() <= MAX_DIGITS && !text.starts_with('0');
    fits.then(|| text.parse().ok()).flatten()
}

/// Returns a job's `prLink`, or `None` if the string states that the job has no pull request: a
/// blank string, or `null` as a word.
///
/// ```
/// use quillgate::pull_request::stated_link;
///
/// assert_eq!(stated_link("https://github.com/acme/docs/pull/12").map(str::len), Some(36));
/// assert_eq!(stated_link(" "), None);
/// assert_eq!(stated_link("null"), None);
/// ```
#[must_use]
pub fn stated_link(text: &str) -> Option<&str> {
    let link = text.trim();
    (!link.is_empty() && !link.eq_ignore_ascii_case("null")).then_some(link)
}
