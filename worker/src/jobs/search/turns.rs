//! The order of searches. One search runs at a time. Callers take turns, so that many searches of one
//! caller delay each search of another caller by at most one.

use std::collections::VecDeque;

/// The running search and the searches that wait for their turn.
///
/// ```
/// use quillgate_worker::jobs::search::turns::Turns;
///
/// let mut turns = Turns::default();
/// assert!(turns.begin());
/// turns.wait("ana", 1);
/// turns.wait("ana", 2);
/// turns.wait("ben", 3);
/// assert_eq!([turns.finish(), turns.finish(), turns.finish()], [Some(2), Some(3), Some(1)]);
/// ```
#[derive(Debug)]
pub struct Turns<T> {
    is_busy: bool,
    /// The waiting searches of each caller. The next turn is that of the first caller.
    waiting: VecDeque<(String, Vec<T>)>,
}

impl<T> Default for Turns<T> {
    fn default() -> Self {
        Self {
            is_busy: false,
            waiting: VecDeque::new(),
        }
    }
}

impl<T> Turns<T> {
    /// Starts a search, and returns whether it may run now. Otherwise, the caller must
    /// [`wait`](Self::wait).
    pub fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.is_busy, true)
    }

    /// Queues a search of a caller.
    pub fn wait(&mut self, caller: &str, search: T) {
        match self.waiting.iter_mut().find(|(own, _)| own == caller) {
            Some((_, searches)) => searches.push(search),
            None => self.waiting.push_back((caller.to_owned(), vec![search])),
        }
    }

    /// Ends the running search. Returns the next one, if any: the newest of the caller that has
    /// waited longest for a turn. While a reader types, only the newest search is of use.
    pub fn finish(&mut self) -> Option<T> {
        let turn = self.waiting.pop_front();
        self.is_busy = turn.is_some();
        let (caller, mut searches) = turn?;
        let search = searches.pop();
        if !searches.is_empty() {
            self.waiting.push_back((caller, searches));
        }
        search
    }
}
