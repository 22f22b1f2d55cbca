//! The parameters of exports. An export has all rows of a report in a date range, as CSV or
//! newline-delimited JSON.

use crate::call::Call;
use crate::date::DateRange;
use crate::declaration::{Parameter, ParameterIn, ParameterKind};
use crate::error::{Rule, ValidationError};
use crate::parameters::{ParameterGroup, ParameterType};
use crate::text::quote;
use crate::value::check_not_empty;

/// The output format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// Comma-separated values (RFC 4180).
    Csv,
    /// JSON, one row per line.
    NdJson,
}

impl ExportFormat {
    const ALL: [Self; 2] = [Self::Csv, Self::NdJson];
    const NAMES: [&'static str; 2] = [Self::Csv.as_str(), Self::NdJson.as_str()];

    /// Returns the format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|format| format.as_str() == name)
    }

    /// Returns the name used in requests and as a file extension.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::NdJson => "ndjson",
        }
    }
}

impl ParameterType for ExportFormat {
    const PARAMETER: Parameter = Parameter::optional(
        "format",
        ParameterIn::Query,
        ParameterKind::OneOf(&Self::NAMES),
    );
    const DOC: &'static str = "The output format: CSV (RFC 4180) or newline-delimited JSON.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        Self::from_name(text)
            .ok_or_else(|| ValidationError::new("format", Rule::OneOf(&Self::NAMES), quote(text)))
    }

    fn to_text(&self) -> String {
        self.as_str().to_owned()
    }
}

/// A date range with both bounds. With an open end, a resumed export would cover other rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedRange(DateRange);

impl ClosedRange {
    /// Returns the range.
    #[must_use]
    pub const fn range(&self) -> &DateRange {
        &self.0
    }
}

impl ParameterGroup for ClosedRange {
    const LIST: &'static [Parameter] = &[
        <DateRange as ParameterGroup>::LIST[0].require(),
        <DateRange as ParameterGroup>::LIST[1].require(),
    ];
    const DOCS: &'static [&'static str] = <DateRange as ParameterGroup>::DOCS;

    fn read(call: &Call) -> Result<Self, ValidationError> {
        call.require("dateFrom")?;
        call.require("dateTo")?;
        call.range().map(Self)
    }

    fn write(&self, call: &mut Call) {
        self.0.write(call);
    }
}

/// The position from which an export resumes.
///
/// For a report paginated by offset, this is the number of rows already received. For a report
/// paginated by cursor, it is `<rows to skip on the page>~<cursor of the page>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportCursor(String);

impl ParameterType for ExportCursor {
    const PARAMETER: Parameter =
        Parameter::optional("cursor", ParameterIn::Query, ParameterKind::Text);
    const DOC: &'static str = "The position to resume from: the `cursor` in the last record of an incomplete \
        export. For a list paginated by offset, it is the number of rows already received.";

    fn from_text(text: &str) -> Result<Self, ValidationError> {
        check_not_empty("cursor", text.to_owned()).map(Self)
    }

    fn to_text(&self) -> String {
        self.0.clone()
    }
}
