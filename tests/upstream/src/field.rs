//! Optional fields of the control API.

use serde::Deserialize;

/// A field that is absent, `null` or set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Option<T>")]
pub(crate) enum Field<T> {
    #[default]
    Unchanged,
    Set(Option<T>),
}

impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Self {
        Self::Set(value)
    }
}

impl<T: Clone> Field<T> {
    pub(crate) fn replace(&mut self, newer: Self) {
        if matches!(newer, Self::Set(_)) {
            *self = newer;
        }
    }

    /// The set value, or `current` if the field is unchanged.
    pub(crate) fn value_or(&self, current: Option<T>) -> Option<T> {
        match self {
            Self::Unchanged => current,
            Self::Set(value) => value.clone(),
        }
    }
}
