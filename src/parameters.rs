//! The types of parameters: their declarations, and their conversion to and from the arguments of
//! a call.

use crate::call::Call;
use crate::date::DateRange;
use crate::declaration::{Parameter, ParameterIn, ParameterKind};
use crate::error::{IntegerRule, Rule, ValidationError};
use crate::list::{Limit, Offset, PAGE};
use crate::text::{format_integer, parse_decimal, quote};

/// A type that represents one or several parameters of an operation.
pub trait ParameterGroup: Sized {
    /// The parameters.
    const LIST: &'static [Parameter];

    /// The documentation of each parameter: one or two sentences.
    const DOCS: &'static [&'static str];

    /// Reads the value from a call.
    ///
    /// # Errors
    /// [`crate::Rule::Required`] if a required value is absent. Otherwise the rule that the value
    /// breaks.
    fn read(call: &Call) -> Result<Self, ValidationError>;

    /// Sets the value in a call.
    fn write(&self, call: &mut Call);
}

/// A type that represents one parameter.
pub trait ParameterType: Sized {
    /// The parameter.
    const PARAMETER: Parameter;

    /// The documentation: one or two sentences.
    const DOC: &'static str;

    /// Parses the value from a request.
    ///
    /// # Errors
    /// The rule that the value breaks.
    fn from_text(text: &str) -> Result<Self, ValidationError>;

    /// Returns the value in the form in which it is sent.
    fn to_text(&self) -> String;
}

impl<T: ParameterType> ParameterGroup for T {
    const LIST: &'static [Parameter] = &[T::PARAMETER.require()];
    const DOCS: &'static [&'static str] = &[T::DOC];

    fn read(call: &Call) -> Result<Self, ValidationError> {
        T::from_text(call.require(T::PARAMETER.name)?)
    }

    fn write(&self, call: &mut Call) {
        call.set(T::PARAMETER.name, self.to_text());
    }
}

impl<T: ParameterType> ParameterGroup for Option<T> {
    const LIST: &'static [Parameter] = &[T::PARAMETER];
    const DOCS: &'static [&'static str] = &[T::DOC];

    fn read(call: &Call) -> Result<Self, ValidationError> {
        call.text(T::PARAMETER.name).map(T::from_text).transpose()
    }

    fn write(&self, call: &mut Call) {
        if let Some(value) = self {
            call.set(T::PARAMETER.name, value.to_text());
        }
    }
}

impl ParameterGroup for DateRange {
    const LIST: &'static [Parameter] = &[bound("dateFrom"), bound("dateTo")];
    const DOCS: &'static [&'static str] = &[
        "The inclusive start of the range: `YYYY-MM-DD` or an ISO 8601 date-time.",
        "The exclusive end of the range: `YYYY-MM-DD` or an ISO 8601 date-time.",
    ];

    fn read(call: &Call) -> Result<Self, ValidationError> {
        call.range()
    }

    fn write(&self, call: &mut Call) {
        for (field, bound) in [("dateFrom", self.from()), ("dateTo", self.to())] {
            if let Some(bound) = bound {
                call.set(field, bound.as_str().to_owned());
            }
        }
    }
}

const fn bound(name: &'static str) -> Parameter {
    Parameter::optional(name, ParameterIn::Query, ParameterKind::Date)
}

impl<const MAX: u64, const DEFAULT: u64> ParameterType for Limit<MAX, DEFAULT> {
    const PARAMETER: Parameter = Parameter::optional(
        "limit",
        ParameterIn::Query,
        ParameterKind::Integer {
            rule: const { &Self::RULE },
            default: DEFAULT,
        },
    );
    const DOC: &'static str = "Rows per page.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        read_number("limit", text, const { &Self::RULE }).and_then(Self::new)
    }

    fn to_text(&self) -> String {
        format_integer(self.get())
    }
}

/// Parses an integer and checks it against a rule.
pub(crate) fn read_number(
    field: &'static str,
    text: &str,
    rule: &'static IntegerRule,
) -> Result<u64, ValidationError> {
    match parse_decimal(text) {
        Some(number) => rule.check(field, number),
        None => Err(ValidationError::new(
            field,
            Rule::Integer(rule),
            quote(text),
        )),
    }
}

/// Two parameters: `offset`, and `page` as an alternative.
impl ParameterGroup for Option<Offset> {
    const LIST: &'static [Parameter] = &[
        Parameter::optional(
            "offset",
            ParameterIn::Query,
            ParameterKind::Integer {
                rule: &IntegerRule::OFFSET,
                default: 0,
            },
        ),
        Parameter::optional(PAGE, ParameterIn::Query, ParameterKind::Page),
    ];
    const DOCS: &'static [&'static str] = &[
        "Rows to skip. For page-based access: (page - 1) * limit.",
        "The page, counted from 1. Quillgate sends it as `offset`: (page - 1) * limit.",
    ];

    fn read(call: &Call) -> Result<Self, ValidationError> {
        call.integer("offset").map(Offset::new).transpose()
    }

    fn write(&self, call: &mut Call) {
        if let Some(offset) = self {
            call.set("offset", format_integer(offset.get()));
        }
    }
}

/// Declares a parameter whose value is a string. The parameter's kind decides which strings are
/// valid.
macro_rules! text_parameter {
    ($(#[doc = $doc:literal])+ pub struct $name:ident, $place:ident $wire:literal, $kind:expr, $about:literal) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Validates `text`. It is sent unchanged.
            ///
            /// # Errors
            /// The rule of [`ParameterKind`]($crate::declaration::ParameterKind) that `text`
            /// breaks.
            pub fn new(text: impl Into<String>) -> Result<Self, $crate::error::ValidationError> {
                const PARAMETER: $crate::declaration::Parameter =
                    <$name as $crate::parameters::ParameterType>::PARAMETER;
                PARAMETER.check(text.into()).map(Self)
            }

            /// Returns the string.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::parameters::ParameterType for $name {
            const PARAMETER: $crate::declaration::Parameter =
                $crate::declaration::Parameter::optional(
                    $wire,
                    $crate::declaration::ParameterIn::$place,
                    $kind,
                );
            const DOC: &'static str = $about;

            fn from_text(text: &str) -> Result<Self, $crate::error::ValidationError> {
                Self::new(text)
            }

            fn to_text(&self) -> String {
                self.0.clone()
            }
        }
    };
}
pub(crate) use text_parameter;

text_parameter! {
    /// The position of a list's next page: the `nextCursor` of the previous page.
    pub struct Cursor, Query "cursor", ParameterKind::Text,
    "Where the list starts: the `nextCursor` of the previous page."
}

text_parameter! {
    /// The position of the next page of conversations: a ULID, the `nextCursor` of the previous
    /// page.
    pub struct ConversationCursor, Query "cursor", ParameterKind::Ulid,
    "Where the list starts: the `nextCursor` of the previous page."
}
