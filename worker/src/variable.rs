use std::fmt;

use quillgate::Millis;

/// Trims the value. A blank variable counts as absent.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// `None` for a blank value.
pub fn trim_value(value: &str) -> Option<String> {
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// Never contains the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariableError {
    pub variable: &'static str,
    /// Worded to follow the variable's name.
    pub rule: &'static str,
}

impl fmt::Display for VariableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.variable, self.rule)
    }
}

/// The minimum is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    max: u32,
    rule: &'static str,
}

impl Range {
    pub const TO_HUNDRED: Self = Self::new(100, "must be an integer from 1 to 100");
    pub const TO_300: Self = Self::new(300, "must be an integer from 1 to 300");
    pub const TO_TEN_YEARS: Self = Self::new(3_650, "must be an integer from 1 to 3650");
    pub const TO_DAY: Self = Self::new(86_400, "must be an integer from 1 to 86400");
    pub const TO_MILLION: Self = Self::new(1_000_000, "must be an integer from 1 to 1000000");

    const fn new(max: u32, rule: &'static str) -> Self {
        Self { max, rule }
    }
}

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

pub fn read_seconds(
    variable: &'static str,
    variables: Variables<'_>,
    default: u32,
    range: Range,
) -> Result<Millis, VariableError> {
    let seconds = read_integer(variable, variables(variable), default, range)?;
    Ok(Millis::from_seconds(seconds.into()))
}

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

/// Drops empty items.
pub fn split_list(value: Option<&str>) -> Vec<String> {
    let items = value.unwrap_or("").split(',');
    items.filter_map(trim_value).collect()
}
