//! The numbers that the module and its driver in TypeScript exchange.
//!
//! `quillgate-generate protocol` writes them for the driver.

/// Declares an enum whose discriminants are part of the protocol.
macro_rules! numbers {
    ($(#[doc = $doc:literal])+ pub enum $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name {
            $($(#[doc = $variant_doc])+ $variant,)+
        }

        impl $name {
            /// The names of all variants, in the order of their numbers.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant)),+];

            /// Returns the variant with this number.
            #[must_use]
            pub fn from_number(number: u32) -> Option<Self> {
                const ALL: &[$name] = &[$($name::$variant),+];
                ALL.get(number as usize).copied()
            }
        }
    };
}

numbers! {
    /// How a task runs an operation.
    pub enum Mode {
        /// One call.
        Once,
        /// A list, page by page, from the page that the parameters select. A missing `dateTo` becomes
        /// the current time, usually rounded down to five minutes.
        Pages,
        /// As `Pages`, but without `limit`, pages have the maximum size.
        Everything,
        /// A watch of the job that the operation reads.
        Watch,
        /// A request that is not an operation. Its parameters are `path`, and `method` for idempotency.
        Raw,
    }
}

numbers! {
    /// An object whose properties the module reads. Parameters and options are separate objects, so
    /// that the module cannot confuse them.
    pub enum Source {
        /// The client's options.
        Client,
        /// The call's parameters.
        Params,
        /// The call's options, merged with those of the client.
        Options,
        /// The options of a watch.
        Watch,
        /// The parsed body of a response, or the decoded result.
        Body,
        /// A response's header fields: `retryAfter` and `date`.
        Head,
        /// A list's page: `totals`, and `keys` for lists of events. Each row has two lines, its id and
        /// its time.
        Page,
    }
}

numbers! {
    /// An event of a task: `quillgate::task::Event`.
    pub enum EventNumber {
        /// The parameters can be read. Valid parameters result in `Yield`.
        Begin,
        /// The caller requests the next result.
        Next,
        /// A call succeeded.
        Result,
        /// A page arrived. The event's number is its number of rows.
        Page,
        /// A poll received a job. The event's number is 1 if the job has changed, otherwise 0.
        Job,
        /// An event stream sent a job. The event's number is as that of `Job`.
        Streamed,
        /// A response is not 2xx. The event's number is its status.
        Status,
        /// The connection failed or broke.
        Disconnected,
        /// The response was not complete in time.
        TimedOut,
        /// The body of a 2xx response does not match the operation.
        Malformed,
        /// The wait has ended.
        Waited,
    }
}

numbers! {
    /// A command to the driver: `quillgate::task::Command`.
    pub enum CommandNumber {
        /// Send the request.
        Send,
        /// Wait, then retry.
        Retry,
        /// Wait before the next poll.
        Wait,
        /// Yield the result.
        Yield,
        /// Yield the result, which is the last.
        YieldLast,
        /// End without a result.
        Done,
        /// Throw the last failure.
        Fail,
        /// Throw: the call's total timeout has passed.
        TotalTimeout,
        /// Throw: the watch's timeout has passed.
        WatchTimeout,
        /// Throw the emitted validation error.
        Reject,
        /// Throw the emitted decode error: the page contradicts its list.
        RejectPage,
    }
}

numbers! {
    /// The kind of a string that the module emits. Each string comes with a number.
    pub enum Output {
        /// Method, space, target, line feed, body. The number is the timeout in milliseconds. A raw
        /// request emits only a duration.
        Request,
        /// Empty. The number is the length of a wait or of a timeout, in milliseconds.
        Duration,
        /// The field, the end of the rule's message and the received value, one per line. The number
        /// identifies the rule.
        Rejection,
        /// The path in the page and the reason, one per line.
        PageRejection,
        /// The arguments of a list's next page as a JSON object. A finished list emits none.
        Position,
        /// The client's base URL, without trailing slashes.
        BaseUrl,
        /// The value of `Retry-After` in milliseconds.
        RetryAfter,
        /// The indices of rows of a page that an earlier page contained, separated by commas.
        Repeated,
        /// Empty. The totals of a list have changed between two pages.
        Mixed,
        /// Advice to add to the message of a failure.
        Advice,
    }
}
