//! The `SQLite` storage of a Durable Object, with rows as types.

use js_sys::Array;
use quillgate::Millis;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::worker_sys::SqlStorage as RawSqlStorage;
use worker::{SqlStorage, SqlStorageValue, Storage};

use super::error::{HostError, HostResult};
use super::object::FromValue;

#[wasm_bindgen]
extern "C" {
    /// `DurableObjectStorage`, for what the `worker` crate does not wrap.
    type TransactionalStorage;

    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &TransactionalStorage,
        run: &mut dyn FnMut() -> Result<(), JsValue>,
    ) -> Result<(), JsValue>;
}

/// Declares a struct that is read from a row. What may be `NULL` is an `Option`.
macro_rules! row {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_visibility:vis $field:ident: $kind:ty,)+
        }
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $($(#[$field_meta])* $field_visibility $field: $kind,)+
        }

        $crate::platform::read_by_name!($name { $($field),+ });
    };
}
pub(crate) use row;

row! {
    struct DueRow {
        due: Option<u64>,
    }
}

/// The database of a Durable Object.
pub struct Database {
    sql: SqlStorage,
    storage: Storage,
}

impl Database {
    /// The database of this storage.
    pub fn new(storage: Storage) -> Self {
        Self {
            sql: storage.sql(),
            storage,
        }
    }

    /// How large it is, in bytes. The crate's own count ends at 4 GiB.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "far below 2^53, and not negative"
    )]
    pub fn size(&self) -> u64 {
        let sql: &RawSqlStorage = self.sql.as_ref().unchecked_ref();
        sql.database_size() as u64
    }

    /// Runs a statement that gives no rows.
    pub fn execute(&self, query: &str, bindings: &[SqlStorageValue]) -> HostResult<()> {
        self.sql.exec(query, bindings.to_vec())?;
        Ok(())
    }

    /// As [`Self::execute`], with values of JavaScript that stay outside of the wasm's memory.
    pub fn execute_raw(&self, query: &str, bindings: Vec<JsValue>) -> HostResult<()> {
        self.sql.exec_raw(query, bindings)?;
        Ok(())
    }

    /// The rows that a query gives.
    ///
    /// # Errors
    /// A row that lacks a column of `T`, too.
    pub fn rows<T: FromValue>(
        &self,
        query: &str,
        bindings: &[SqlStorageValue],
    ) -> HostResult<Vec<T>> {
        let rows = self.raw_rows(query, bindings)?;
        let mut read = Vec::with_capacity(rows.length() as usize);
        for at in 0..rows.length() {
            read.push(T::from_value(rows.get(at))?);
        }
        Ok(read)
    }

    /// The first row that a query gives.
    pub fn first<T: FromValue>(
        &self,
        query: &str,
        bindings: &[SqlStorageValue],
    ) -> HostResult<Option<T>> {
        let rows = self.raw_rows(query, bindings)?;
        if rows.length() == 0 {
            return Ok(None);
        }
        T::from_value(rows.get(0)).map(Some)
    }

    /// The instant that a query gives as `due`; `None` when that is `NULL`.
    pub fn first_due(&self, query: &str) -> HostResult<Option<Millis>> {
        let row: Option<DueRow> = self.first(query, &[])?;
        Ok(row.and_then(|row| row.due).map(Millis))
    }

    /// The crate's own cursor reads rows by serde only.
    fn raw_rows(&self, query: &str, bindings: &[SqlStorageValue]) -> HostResult<Array> {
        let values = bindings.iter().map(|value| JsValue::from(value.clone()));
        let sql: &RawSqlStorage = self.sql.as_ref().unchecked_ref();
        Ok(sql.exec(query, values.collect())?.to_array())
    }

    /// Runs statements that are kept together or not at all, whether `run` fails or traps.
    pub fn transaction<T>(&self, mut run: impl FnMut() -> HostResult<T>) -> HostResult<T> {
        let mut outcome = None;
        self.run_transaction(&mut || {
            outcome = Some(run()?);
            Ok(())
        })?;
        outcome.ok_or_else(|| HostError::new("the transaction did not run"))
    }

    fn run_transaction(&self, run: &mut dyn FnMut() -> Result<(), JsValue>) -> HostResult<()> {
        let storage: &TransactionalStorage = self.storage.as_raw().unchecked_ref();
        Ok(storage.transaction_sync(&mut || run())?)
    }
}

/// Text as a binding.
pub fn text(text: &str) -> SqlStorageValue {
    SqlStorageValue::String(text.to_owned())
}

/// Text that may be missing, as a binding.
pub fn optional_text(value: Option<&str>) -> SqlStorageValue {
    value.map_or(SqlStorageValue::Null, text)
}

/// An instant or a count as a binding: `SQLite` makes an integer of it where the column is one.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn number(number: u64) -> SqlStorageValue {
    SqlStorageValue::Float(number as f64)
}
