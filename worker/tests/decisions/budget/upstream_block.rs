//! Blocks after an upstream 429.

use quillgate::Millis;
use quillgate_worker::budget::upstream_block::UpstreamBlock;

use super::{HOUR, MINUTE};
use crate::fixtures::NOW;

#[test]
fn block_is_probed_by_one_request_per_twelfth_of_a_window() {
    let (window, later) = (Millis(HOUR), |minutes| Millis(NOW.0 + minutes * MINUTE));
    let block = UpstreamBlock::new(later(30), window, NOW);
    assert_eq!(block.refuses_until(NOW), Some(later(30)));
    let before = Millis(later(5).0 - 1);
    assert_eq!(block.refuses_until(before), Some(later(30)));
    assert_eq!(block.refuses_until(later(5)), None);

    let probed = UpstreamBlock::new(block.until, window, later(6));
    assert_eq!(probed.refuses_until(later(6)), Some(later(30)), "one alone");
    assert_eq!(probed.refuses_until(later(11)), None, "and then the next");
    assert_eq!(probed.refuses_until(later(30)), None, "it is over");
}

#[test]
fn another_429_can_only_extend_a_block() {
    let window = Millis(HOUR);
    let first = UpstreamBlock::extend(None, Millis(30 * MINUTE), window, NOW);
    for (time, until) in [(MINUTE, 30 * MINUTE), (HOUR, HOUR)] {
        let again = UpstreamBlock::extend(Some(first), Millis(time), window, NOW);
        let until = Millis(NOW.0 + until);
        assert_eq!(again, UpstreamBlock::new(until, window, NOW));
    }
}
