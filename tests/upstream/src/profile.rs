//! Profiles: how closely the simulator follows Mintlify's descriptions or its observed behaviour.

use clap::ValueEnum;

/// The profile of the suites, of benchmarks and of `npm start`.
pub const DEFAULT_PROFILE: Profile = Profile::Live;

/// A set of [`Trait`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// As Mintlify's descriptions publish
    Published,
    /// As users of the real platform observed
    Live,
}

/// An observed behaviour that Mintlify's descriptions do not publish. `docs/platform.md` lists the
/// sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Trait {
    /// Some search terms are the beginnings of others, as readers typed them
    TypingPrefixes,
    /// All turns of a thread have the same `id`
    SharedConversationIds,
    /// Every other `nextCursor` is a URL
    UrlCursors,
    /// Long targets with a cursor are rejected with 414; cursors alone continue the range
    LongTargets,
    /// `source.repository` is a URL
    RepositoryUrls,
    /// Cursors with dates are rejected with 414, however short the target is
    LoneCursors,
    /// Exceeded limits are text instead of JSON, with `Retry-After`
    TextRateLimits,
    /// Unknown projects are 404 instead of 403
    MissingProjects,
    /// Some paths of feedback are URLs, have no leading slash or are empty
    MixedPaths,
    /// Some times have no time zone
    LocalTimes,
}

impl Trait {
    /// The traits of [`Profile::Live`]: those that Mintlify's own code or a user of production
    /// shows. The others are inferred from programs.
    const LIVE: [Self; 5] = [
        Self::TypingPrefixes,
        Self::SharedConversationIds,
        Self::UrlCursors,
        Self::LongTargets,
        Self::RepositoryUrls,
    ];
}

/// The traits of a simulator.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traits(Vec<Trait>);

impl Traits {
    /// Adds `with` to the traits of a profile, and removes `without`.
    pub(crate) fn new(profile: Profile, with: &[Trait], without: &[Trait]) -> Self {
        let of_profile: &[Trait] = match profile {
            Profile::Published => &[],
            Profile::Live => &Trait::LIVE,
        };
        let all = of_profile.iter().chain(with);
        Self(all.filter(|it| !without.contains(it)).copied().collect())
    }

    pub(crate) fn has(&self, expected: Trait) -> bool {
        self.0.contains(&expected)
    }
}
