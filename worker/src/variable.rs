use std::fmt;

use quillgate::Millis;

/// Trims the value. A blank variable counts as absent.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Removes a byte order mark, too, which some shells add to a piped secret. `None` for a blank value.
pub fn trim_value(value: &str) -> Option<String> {
    let value = value.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
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

/// A variable in `docs/reference/configuration.md`.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    pub name: &'static str,
    pub kind: VariableKind,
    /// A number, or words.
    pub default: &'static str,
    pub meaning: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableKind {
    Secret,
    SecretOrVar,
    Var,
}

/// Declares `VARIABLES`, and a constant of each integer. No code of the Worker uses `VARIABLES`, so
/// the wasm module does not contain it.
macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ident = $default:tt $(in 1..=$max:tt)?;)+) => {
        $($(
            const $name: $crate::variable::Integer = $crate::variable::Integer {
                name: stringify!($name),
                default: $default,
                max: $max,
                rule: concat!("must be an integer from 1 to ", $max),
            };
        )?)+
        pub const VARIABLES: &[$crate::variable::Variable] = &[$(
            $crate::variable::Variable {
                name: stringify!($name),
                kind: $crate::variable::VariableKind::$kind,
                default: stringify!($default),
                meaning: &[$($doc),+],
            },
        )+];
    };
}
pub(crate) use variables;

#[derive(Debug, Clone, Copy)]
pub struct Integer {
    pub name: &'static str,
    pub default: u32,
    /// The minimum is 1.
    pub max: u32,
    pub rule: &'static str,
}

impl Integer {
    pub fn read(self, variables: Variables<'_>) -> Result<u32, VariableError> {
        let Some(text) = variables(self.name) else {
            return Ok(self.default);
        };
        let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse() {
            Ok(number) if is_decimal && (1..=self.max).contains(&number) => Ok(number),
            _ => Err(VariableError {
                variable: self.name,
                rule: self.rule,
            }),
        }
    }

    pub fn read_seconds(self, variables: Variables<'_>) -> Result<Millis, VariableError> {
        Ok(Millis::from_seconds(self.read(variables)?.into()))
    }
}

/// An absent variable has the default value.
pub fn read_variable<T: Default>(
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
