//! Addresses of the repository and its pull requests.

/// The repository without its host.
pub(crate) const REPOSITORY: &str = "acme/docs";

/// The service that hosts the repository.
#[derive(Clone, Copy)]
pub(crate) enum Host {
    GitHub,
    GitLab,
    Bitbucket,
}

impl Host {
    fn origin(self) -> &'static str {
        match self {
            Self::GitHub => "https://github.com",
            Self::GitLab => "https://gitlab.com",
            Self::Bitbucket => "https://bitbucket.org",
        }
    }

    /// The address of the repository.
    pub(crate) fn repository(self) -> String {
        format!("{}/{REPOSITORY}", self.origin())
    }

    /// The address of a pull request.
    pub(crate) fn pull_request(self, number: u64) -> String {
        let path = match self {
            Self::GitHub => "pull",
            Self::GitLab => "-/merge_requests",
            Self::Bitbucket => "pull-requests",
        };
        format!("{}/{path}/{number}", self.repository())
    }
}
