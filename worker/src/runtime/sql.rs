use js_sys::{Array, JsString, Object};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::Storage;
use worker::worker_sys::SqlStorage;

use crate::json;
use crate::runtime::context::to_integer;
use crate::runtime::error::{HostError, HostResult};
use crate::runtime::host;

#[wasm_bindgen]
extern "C" {
    /// Methods of `DurableObjectStorage` that the `worker` crate does not wrap.
    type TransactionalStorage;

    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &TransactionalStorage,
        run: &mut dyn FnMut() -> Result<(), JsValue>,
    ) -> Result<(), JsValue>;
}

/// A string, a number or `null`. Numbers are bound as floating-point numbers, which `SQLite` stores
/// as integers in a column with integer affinity.
pub trait SqlValue {
    fn to_json(&self) -> Value;
}

impl<T: Serialize> SqlValue for T {
    fn to_json(&self) -> Value {
        json!(self)
    }
}

/// Of a statement. A serializer for each type of tuple would add several kilobytes.
pub type Values<'a> = &'a [&'a dyn SqlValue];

pub struct Database {
    sql: SqlStorage,
    storage: Storage,
}

impl Database {
    pub fn new(storage: Storage) -> Self {
        Self {
            sql: storage.as_raw().sql(),
            storage,
        }
    }

    /// The size in bytes. The `worker` crate returns a `usize`, which cannot exceed 4 GiB in wasm.
    pub fn size(&self) -> u64 {
        to_integer(self.sql.database_size())
    }

    pub fn execute(&self, statement: &str, values: Values<'_>) -> HostResult<()> {
        self.query(statement, values, None)?;
        Ok(())
    }

    /// Binds `text` after the values.
    pub fn execute_with_text(
        &self,
        statement: &str,
        values: Values<'_>,
        text: &JsString,
    ) -> HostResult<()> {
        self.query(statement, values, Some(text))?;
        Ok(())
    }

    /// The fields of a row have the names of the columns.
    pub fn rows<T: DeserializeOwned>(&self, query: &str, values: Values<'_>) -> HostResult<Vec<T>> {
        let rows = self.query(query, values, None)?;
        let decode = |row| Ok(serde_wasm_bindgen::from_value(row)?);
        rows.iter().map(decode).collect()
    }

    pub fn first<T: DeserializeOwned>(
        &self,
        query: &str,
        values: Values<'_>,
    ) -> HostResult<Option<T>> {
        Ok(self.rows(query, values)?.into_iter().next())
    }

    /// Returns the first column.
    pub fn values<T: DeserializeOwned>(
        &self,
        query: &str,
        values: Values<'_>,
    ) -> HostResult<Vec<T>> {
        let rows = self.query(query, values, None)?;
        let first = |row: JsValue| Object::values(row.unchecked_ref()).get(0);
        let decode = |row| Ok(serde_wasm_bindgen::from_value(first(row))?);
        rows.iter().map(decode).collect()
    }

    pub fn value<T: DeserializeOwned>(
        &self,
        query: &str,
        values: Values<'_>,
    ) -> HostResult<Option<T>> {
        Ok(self.values(query, values)?.into_iter().next())
    }

    fn query(
        &self,
        statement: &str,
        values: Values<'_>,
        text: Option<&JsString>,
    ) -> HostResult<Array> {
        let values: Value = values.iter().map(|value| value.to_json()).collect();
        host::query(&self.sql, statement, &json::to_text(&values), text)
    }

    /// Runs the steps that the database has not run yet. Never change a released step.
    pub fn migrate(&self, steps: &[&'static str]) -> HostResult<()> {
        self.transaction(|| {
            let table = "CREATE TABLE IF NOT EXISTS migration (done INTEGER NOT NULL)";
            self.execute(table, &[])?;
            let done = self.value("SELECT done FROM migration", &[])?.unwrap_or(0);
            // A newer release may have applied more steps before a rollback. Recording a smaller
            // number would make it repeat them.
            if done >= steps.len() as u64 {
                return Ok(());
            }
            let pending = steps.iter().zip(0..).filter(|(_, at)| *at >= done);
            for (step, _) in pending {
                self.execute(step, &[])?;
            }
            self.execute("DELETE FROM migration", &[])?;
            let insert = "INSERT INTO migration (done) VALUES (?)";
            self.execute(insert, &[&steps.len()])
        })
    }

    /// Runs statements in a transaction, which is rolled back if `run` fails or traps.
    pub fn transaction<T>(&self, mut run: impl FnMut() -> HostResult<T>) -> HostResult<T> {
        let storage: &TransactionalStorage = self.storage.as_raw().unchecked_ref();
        let mut outcome = None;
        storage.transaction_sync(&mut || {
            outcome = Some(run()?);
            Ok(())
        })?;
        outcome.ok_or_else(|| HostError::new("the transaction did not run"))
    }
}
