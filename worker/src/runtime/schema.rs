//! Migrates the schema of a Durable Object's database.

use crate::runtime::{Database, HostResult, number};

/// Migrates a database to the latest schema.
///
/// Never change a released step: existing databases do not run it again.
pub fn migrate(database: &Database, steps: &[&'static str]) -> HostResult<()> {
    database.transaction(|| {
        let table = "CREATE TABLE IF NOT EXISTS migration (done INTEGER NOT NULL)";
        database.execute(table, [])?;
        let done = database.value("SELECT done FROM migration", [])?;
        let done = done.unwrap_or(0);
        // A newer release may have applied more steps before a rollback to this one. If a smaller
        // number were recorded, the newer release would repeat its steps after the next upgrade.
        if done >= steps.len() as u64 {
            return Ok(());
        }
        let pending = steps.iter().zip(0..).filter(|(_, at)| *at >= done);
        for (step, _) in pending {
            database.execute(step, [])?;
        }
        database.execute("DELETE FROM migration", [])?;
        let insert = "INSERT INTO migration (done) VALUES (?)";
        database.execute(insert, [number(steps.len() as u64)])
    })
}
