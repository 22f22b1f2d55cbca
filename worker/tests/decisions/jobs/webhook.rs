mod address;
mod delivery;
mod queue;
