mod archive;
mod export;
mod page;
mod query;
