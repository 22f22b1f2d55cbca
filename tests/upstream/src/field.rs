//! Fields of the control routes that may be left out.

use serde::Deserialize;

/// A field that may be left alone or set, to `null` as well.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Option<T>")]
pub(crate) enum Field<T> {
    #[default]
    LeftAlone,
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

    pub(crate) fn instead_of(&self, own: Option<T>) -> Option<T> {
        match self {
            Self::LeftAlone => own,
            Self::Set(value) => value.clone(),
        }
    }
}
