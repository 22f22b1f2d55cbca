//! The numbers by which the npm package's wasm and its driver in TypeScript talk.
//!
//! They stand here once: `quillgate-generate protocol` writes them for the driver.

/// Declares an enum whose numbers the driver knows as well.
macro_rules! numbers {
    ($(#[doc = $doc:literal])+ pub enum $name:ident { $($(#[doc = $variant_doc:literal])+ $variant:ident,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name {
            $($(#[doc = $variant_doc])+ $variant,)+
        }

        impl $name {
            /// Their names, in the order of their numbers.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($variant)),+];

            /// The one of this number.
            #[must_use]
            pub fn from_number(number: u32) -> Option<Self> {
                const ALL: &[$name] = &[$($name::$variant),+];
                ALL.get(number as usize).copied()
            }
        }
    };
}

numbers! {
    /// How an operation is carried out.
    pub enum Mode {
        /// Once.
        Once,
        /// As a list, page by page, beginning with the page that the parameters say.
        Pages,
        /// As a list from there to its end: the largest pages, and an open end is set to now.
        Everything,
        /// As a watch of the job that it reads.
        Watch,
    }
}

numbers! {
    /// An object that the wasm reads members of. Each is read by itself: a parameter is never taken
    /// for an option of the client.
    pub enum Source {
        /// The client's options.
        Client,
        /// The parameters of the call.
        Params,
        /// The call's options over the client's.
        Options,
        /// The options of a watch.
        Watch,
        /// The parsed body of an answer, or the decoded result.
        Body,
        /// What is read of an answer's header fields: `retryAfter`.
        Head,
    }
}

numbers! {
    /// What the driver reports: see [`crate::task::Event`].
    pub enum EventNumber {
        /// The parameters can be read: `Deliver` when they are sound.
        Begin,
        /// The caller wants the next result.
        Next,
        /// A call's result.
        Result,
        /// A page, with its number of rows.
        Page,
        /// A job; 1 when it is news, else 0.
        Job,
        /// An answer that is not 2xx, with its status.
        Status,
        /// No answer: the connection failed or broke.
        Disconnected,
        /// No complete answer in time.
        TimedOut,
        /// A 2xx whose body is not what the operation promises.
        Malformed,
        /// The wait is over.
        Waited,
    }
}

numbers! {
    /// What the driver does next: see [`crate::task::Command`].
    pub enum CommandNumber {
        /// Send the request.
        Send,
        /// Wait because of the last failure.
        Retry,
        /// Wait before the next poll.
        Wait,
        /// Give the caller what has come.
        Deliver,
        /// Give the caller what has come: it is the last.
        Finish,
        /// There is nothing more.
        End,
        /// Give the caller the last failure.
        Fail,
        /// The call's whole time ran out.
        TotalTimeout,
        /// The time of a watch ran out.
        WatchTimeout,
        /// A value was refused, as was said.
        Refuse,
        /// A list goes on in a way that it cannot, as was said.
        RefusePage,
    }
}

numbers! {
    /// What a text is that the wasm hands over.
    pub enum Text {
        /// Method, space, path and query, line break, body; with the most time, in milliseconds, that
        /// the answer may take.
        Request,
        /// None; with the milliseconds of a wait, or of the time that a watch or a call has.
        Time,
        /// Field, what completes the rule, what was found: a line each; with the rule's number.
        Refusal,
        /// Where in the page, and what is wrong there: a line each.
        PageRefusal,
        /// Where a list begins or goes on, unless it is over: a JSON object of its parameters.
        Cursor,
        /// The client's base URL, without slashes at its end.
        BaseUrl,
        /// How long the server asks to wait, in milliseconds.
        RetryAfter,
    }
}
