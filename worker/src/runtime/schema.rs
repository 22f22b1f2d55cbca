//! The tables of a Durable Object, made and changed in numbered steps.

use crate::runtime::{Database, HostResult, number};
use serde::Deserialize;

#[derive(Deserialize)]
struct Migration {
    done: u64,
}

/// Brings a database up to date. A step, once released, is never changed: what it has made is
/// out there. Gives how many steps were done before.
pub fn migrate(database: &Database, steps: &[&'static str]) -> HostResult<u64> {
    database.transaction(|| {
        let table = "CREATE TABLE IF NOT EXISTS migration (done INTEGER NOT NULL)";
        database.execute(table, [])?;
        let row: Option<Migration> = database.first("SELECT done FROM migration", [])?;
        let done = row.map_or(0, |row| row.done);
        if done == steps.len() as u64 {
            return Ok(done);
        }
        let open = steps.iter().zip(0..).filter(|(_, at)| *at >= done);
        for (step, _) in open {
            database.execute(step, [])?;
        }
        database.execute("DELETE FROM migration", [])?;
        let insert = "INSERT INTO migration (done) VALUES (?)";
        database.execute(insert, [number(steps.len() as u64)])?;
        Ok(done)
    })
}
