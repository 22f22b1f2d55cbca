//! The exports that wait for the budget. The organization's object limits the number of these
//! exports, because each waiting export uses memory and sends further requests.

use quillgate::Millis;

use crate::http::problem::Problem;

/// The time after which a place expires unless the place is renewed. Places must expire, because
/// when a client disconnects, the runtime can drop the export before the export frees its place.
const LEASE: Millis = Millis::from_seconds(25);

/// The interval between renewals of a place.
pub const RENEWAL_INTERVAL: Millis = Millis::from_seconds(10);

/// The maximum numbers of exports that wait at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingLimits {
    /// The maximum number of waiting exports per caller.
    pub per_caller: u32,
    /// The maximum number of waiting exports of all callers together.
    pub per_organization: u32,
}

/// The places of waiting exports. A place that is neither renewed nor released expires after 25
/// seconds.
#[derive(Debug, Default)]
pub struct WaitingExports(Vec<Place>);

#[derive(Debug)]
struct Place {
    export: String,
    caller: String,
    expires: Millis,
}

impl WaitingExports {
    /// Takes a place for the export with this id. If the export already has a place, renews the
    /// place.
    ///
    /// # Errors
    /// Returns a 429 problem if the caller or the organization has no place left.
    pub fn hold(
        &mut self,
        export: &str,
        caller: &str,
        limits: WaitingLimits,
        now: Millis,
    ) -> Result<(), Problem> {
        self.0.retain(|place| now < place.expires);
        let expires = now.plus(LEASE);
        if let Some(place) = self.0.iter_mut().find(|place| place.export == export) {
            place.expires = expires;
            return Ok(());
        }
        let own = self.0.iter().filter(|place| place.caller == caller);
        if own.count() >= limits.per_caller as usize {
            return Err(Problem::too_many_exports("the caller", limits.per_caller));
        }
        if self.0.len() >= limits.per_organization as usize {
            let most = limits.per_organization;
            return Err(Problem::too_many_exports("the organization", most));
        }
        self.0.push(Place {
            export: export.to_owned(),
            caller: caller.to_owned(),
            expires,
        });
        Ok(())
    }

    /// Frees the place of an export that has ended.
    pub fn release(&mut self, export: &str) {
        self.0.retain(|place| place.export != export);
    }
}
