use js_sys::Object;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::Storage;
use worker::worker_sys::{SqlStorage, SqlStorageCursor};

use crate::runtime::error::{HostError, HostResult};

#[wasm_bindgen]
extern "C" {
    /// Methods of `DurableObjectStorage` that the `worker` crate does not wrap.
    type TransactionalStorage;

    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &TransactionalStorage,
        run: &mut dyn FnMut() -> Result<(), JsValue>,
    ) -> Result<(), JsValue>;

    /// `SqlStorage`. The wrapper in the `worker` crate copies each value twice.
    #[wasm_bindgen(extends = SqlStorage)]
    type PreparedStorage;

    #[wasm_bindgen(method, catch, variadic)]
    fn exec(
        this: &PreparedStorage,
        statement: &str,
        values: Vec<JsValue>,
    ) -> Result<SqlStorageCursor, JsValue>;
}

pub struct Database {
    sql: PreparedStorage,
    storage: Storage,
}

impl Database {
    pub fn new(storage: Storage) -> Self {
        Self {
            sql: storage.as_raw().sql().unchecked_into(),
            storage,
        }
    }

    /// The size in bytes. The `worker` crate returns a `usize`, which cannot exceed 4 GiB in wasm.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "far below 2^53, and not negative"
    )]
    pub fn size(&self) -> u64 {
        self.sql.database_size() as u64
    }

    pub fn execute(&self, statement: &str, values: impl Into<Vec<JsValue>>) -> HostResult<()> {
        self.run(statement, values.into())?;
        Ok(())
    }

    pub fn rows<T: DeserializeOwned>(
        &self,
        query: &str,
        values: impl Into<Vec<JsValue>>,
    ) -> HostResult<Vec<T>> {
        let rows = self.run(query, values.into())?.to_array();
        rows.iter()
            .map(|row| Ok(serde_wasm_bindgen::from_value(row)?))
            .collect()
    }

    pub fn first<T: DeserializeOwned>(
        &self,
        query: &str,
        values: impl Into<Vec<JsValue>>,
    ) -> HostResult<Option<T>> {
        Ok(self.rows(query, values)?.into_iter().next())
    }

    pub fn values<T: DeserializeOwned>(
        &self,
        query: &str,
        values: impl Into<Vec<JsValue>>,
    ) -> HostResult<Vec<T>> {
        let rows = self.run(query, values.into())?.to_array();
        let first = |row: JsValue| Object::values(row.unchecked_ref()).get(0);
        rows.iter()
            .map(|row| Ok(serde_wasm_bindgen::from_value(first(row))?))
            .collect()
    }

    pub fn value<T: DeserializeOwned>(
        &self,
        query: &str,
        values: impl Into<Vec<JsValue>>,
    ) -> HostResult<Option<T>> {
        Ok(self.values(query, values)?.into_iter().next())
    }

    fn run(&self, statement: &str, values: Vec<JsValue>) -> HostResult<SqlStorageCursor> {
        Ok(self.sql.exec(statement, values)?)
    }

    /// Runs the steps that the database has not run yet. Never change a released step.
    pub fn migrate(&self, steps: &[&'static str]) -> HostResult<()> {
        self.transaction(|| {
            let table = "CREATE TABLE IF NOT EXISTS migration (done INTEGER NOT NULL)";
            self.execute(table, [])?;
            let done = self.value("SELECT done FROM migration", [])?.unwrap_or(0);
            // A newer release may have applied more steps before a rollback. Recording a smaller
            // number would make it repeat them.
            if done >= steps.len() as u64 {
                return Ok(());
            }
            let pending = steps.iter().zip(0..).filter(|(_, at)| *at >= done);
            for (step, _) in pending {
                self.execute(step, [])?;
            }
            self.execute("DELETE FROM migration", [])?;
            let insert = "INSERT INTO migration (done) VALUES (?)";
            self.execute(insert, [number(steps.len() as u64)])
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

pub fn optional_text(value: Option<&str>) -> JsValue {
    value.map_or(JsValue::NULL, JsValue::from_str)
}

/// Bound as a floating-point number, which `SQLite` stores as an integer in a column with integer
/// affinity.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn number(number: u64) -> JsValue {
    JsValue::from_f64(number as f64)
}

pub fn optional_number(value: Option<u64>) -> JsValue {
    value.map_or(JsValue::NULL, number)
}

pub fn text(text: &str) -> JsValue {
    JsValue::from_str(text)
}
