//! The Worker's variables.

use std::fmt;

use quillgate::Millis;

/// Reads a variable by name, trimmed. A blank variable counts as absent.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Trims a value. Returns `None` for a blank value, which counts as absent.
pub fn trim_value(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// A missing or malformed variable. Never contains the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariableError {
    /// The name of the variable.
    pub variable: &'static str,
    /// The rule that the value breaks, worded to follow the variable's name.
    pub rule: &'static str,
}

impl fmt::Display for VariableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.variable, self.rule)
    }
}

/// The range of integers that a variable accepts. The minimum is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    max: u32,
    rule: &'static str,
}

impl Range {
    /// 1 to 100.
    pub const TO_HUNDRED: Self = Self::new(100, "must be an integer from 1 to 100");
    /// 1 to 300.
    pub const TO_300: Self = Self::new(300, "must be an integer from 1 to 300");
    /// 1 to 3,650, the number of days in ten years.
    pub const TO_TEN_YEARS: Self = Self::new(3_650, "must be an integer from 1 to 3650");
    /// 1 to 86,400, the number of seconds in a day.
    pub const TO_DAY: Self = Self::new(86_400, "must be an integer from 1 to 86400");
    /// 1 to 1,000,000.
    pub const TO_MILLION: Self = Self::new(1_000_000, "must be an integer from 1 to 1000000");

    const fn new(max: u32, rule: &'static str) -> Self {
        Self { max, rule }
    }
}

/// Parses an integer, or returns `default`.
///
/// # Errors
/// Returns an error if the value is not decimal digits or is outside the range.
pub fn read_integer(
    variable: &'static str,
    value: Option<String>,
    default: u32,
    range: Range,
) -> Result<u32, VariableError> {
    let Some(text) = value else {
        return Ok(default);
    };
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if is_decimal && (1..=range.max).contains(&number) => Ok(number),
        _ => Err(VariableError {
            variable,
            rule: range.rule,
        }),
    }
}

/// Parses a duration in seconds like [`read_integer`].
///
/// # Errors
/// Returns an error as [`read_integer`] does.
pub fn read_seconds(
    variable: &'static str,
    variables: Variables<'_>,
    default: u32,
    range: Range,
) -> Result<Millis, VariableError> {
    let seconds = read_integer(variable, variables(variable), default, range)?;
    Ok(Millis::from_seconds(seconds.into()))
}

/// Parses a JSON variable, or returns the default of `T`.
///
/// # Errors
/// Returns the rule from `read` as an error of the variable.
pub fn read_json<T: Default>(
    variable: &'static str,
    variables: impl Fn(&str) -> Option<String>,
    read: impl Fn(&str) -> Result<T, &'static str>,
) -> Result<T, VariableError> {
    match variables(variable) {
        Some(value) => read(&value).map_err(|rule| VariableError { variable, rule }),
        None => Ok(T::default()),
    }
}

/// Splits a list at commas, trims the items and drops empty items.
pub fn split_list(value: Option<&str>) -> Vec<String> {
    let items = value.unwrap_or("").split(',');
    items.filter_map(trim_value).collect()
}
