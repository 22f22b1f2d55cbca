//! The data set of `npm start`: a fictional documentation site, "Acme", that readers recognize.

mod conversations;
mod feedback;
mod paths;
mod searches;

pub(crate) use conversations::{Reply, SCRIPTS, Script};
pub(crate) use feedback::{Kind, REMARKS, Remark};
pub(crate) use paths::paths;
pub(crate) use searches::searches;
