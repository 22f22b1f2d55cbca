//! The lock of the archive.

use quillgate::Millis;
use quillgate_worker::analytics::archive::schedule::RunLock;

const START: Millis = Millis(1_000);

#[test]
fn only_one_run_holds_the_lock_until_it_is_released() {
    let mut lock = RunLock::default();
    let first = lock.acquire(START).unwrap();
    assert_eq!(lock.acquire(START.plus(Millis(1))), None);
    lock.release(first);
    assert!(lock.acquire(START.plus(Millis(1))).is_some());
}

#[test]
fn a_run_that_never_ends_loses_the_lock() {
    let mut lock = RunLock::default();
    let lost = lock.acquire(START).unwrap();
    let later = START.plus(RunLock::LEASE);
    let next = lock.acquire(later).unwrap();
    assert!(!lock.renew(lost, later), "the first run stops");
    lock.release(lost);
    assert_eq!(lock.acquire(later), None, "the second run keeps the lock");
    assert!(lock.renew(next, later));
}

#[test]
fn renewing_extends_the_lease() {
    let mut lock = RunLock::default();
    let run = lock.acquire(START).unwrap();
    let later = START.plus(Millis(RunLock::LEASE.0 - 1));
    assert!(lock.renew(run, later));
    assert_eq!(lock.acquire(START.plus(RunLock::LEASE)), None);
}
