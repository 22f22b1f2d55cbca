//! D1, with rows as types. The crate's own wrapper reads rows by serde only.

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use worker::Env;
use worker::worker_sys::{D1Database as RawDatabase, D1PreparedStatement, D1Result};

use super::error::HostResult;
use super::object::{FromValue, Members};

/// A database of D1.
#[derive(Clone)]
pub struct D1(RawDatabase);

/// A statement with its values.
pub type Statement = D1PreparedStatement;

impl D1 {
    /// The database of a binding; `None` without one.
    pub fn open(env: &Env, binding: &str) -> HostResult<Option<Self>> {
        let value = Reflect::get(env, &JsValue::from_str(binding))?;
        let is_bound = !value.is_undefined() && !value.is_null();
        Ok(is_bound.then(|| Self(value.unchecked_into())))
    }

    /// Prepares a statement with values, as many as it has parameters.
    pub fn prepare(&self, query: &str, values: &[JsValue]) -> HostResult<Statement> {
        let values = values.iter().collect();
        Ok(self.0.prepare(query)?.bind(values)?)
    }

    /// The rows that a statement gives.
    pub async fn rows<T: FromValue>(&self, statement: &Statement) -> HostResult<Vec<T>> {
        let (rows, _) = self.rows_and_size(statement).await?;
        Ok(rows)
    }

    /// The rows that a statement gives, and how many bytes the database has.
    pub async fn rows_and_size<T: FromValue>(
        &self,
        statement: &Statement,
    ) -> HostResult<(Vec<T>, Option<u64>)> {
        let result: D1Result = JsFuture::from(statement.all()?).await?.unchecked_into();
        let mut rows = Vec::new();
        for row in result.results()?.iter().flat_map(Array::iter) {
            rows.push(T::from_value(row)?);
        }
        let size = Members::of(&result.meta()?.into())?.read("size_after").ok();
        Ok((rows, size))
    }

    /// Carries statements out, all or none.
    pub async fn batch(&self, statements: &[Statement]) -> HostResult<()> {
        let statements: Array = statements.iter().collect();
        JsFuture::from(self.0.batch(statements)?).await?;
        Ok(())
    }
}
