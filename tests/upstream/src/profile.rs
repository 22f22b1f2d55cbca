//! Profiles: how closely the simulator follows Mintlify's descriptions or its observed behaviour.

use clap::ValueEnum;

/// The profile of the suites, of benchmarks and of `npm start`.
pub const DEFAULT_PROFILE: Profile = Profile::Live;

/// The behaviour of the simulator. The crate's documentation lists the differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// As Mintlify's descriptions publish
    Published,
    /// As users of the real platform observed
    Live,
}

impl Profile {
    pub(crate) fn is_live(self) -> bool {
        self == Self::Live
    }
}
