//! Threads and their messages.

use serde::Serialize;

use super::conversations::Conversation;
use crate::clock::Timestamp;
use crate::random::SplitMix64;
use crate::ulid::Ulid;

/// The thread of each turn in a block. Threads have one to three turns and overlap each other.
const THREADS_OF_BLOCK: [u8; 8] = [0, 1, 0, 2, 0, 3, 2, 4];
const BLOCK: u64 = 8;

/// A thread with all its messages, as the API returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thread {
    #[serde(rename = "threadId")]
    id: String,
    created_at: String,
    messages: Vec<Message>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    id: String,
    role: Role,
    content: String,
    created_at: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

/// The numbers of all turns in the thread of this turn, in order.
pub(super) fn numbers_of_thread(number: u64) -> impl Iterator<Item = u64> {
    let first = number - number % BLOCK;
    let in_block = |number: u64| THREADS_OF_BLOCK.into_iter().zip(number..);
    let thread = in_block(first)
        .find(|(_, turn)| *turn == number)
        .map(|(thread, _)| thread);
    in_block(first)
        .filter(move |(of, _)| Some(*of) == thread)
        .map(|(_, turn)| turn)
}

impl Thread {
    /// Creates a thread. Its id is the id of its first turn.
    pub(super) fn new(turns: impl Iterator<Item = (Timestamp, Conversation)>) -> Option<Self> {
        let mut turns = turns.peekable();
        let (started_at, first) = turns.peek()?;
        let (id, created_at) = (first.id.clone(), started_at.to_string());
        let messages = turns.flat_map(|(asked_at, turn)| Message::of_turn(asked_at, turn));
        Some(Self {
            id,
            created_at,
            messages: messages.collect(),
        })
    }
}

impl Message {
    /// The question, and the answer a few seconds later.
    fn of_turn(asked_at: Timestamp, turn: Conversation) -> [Self; 2] {
        let mut random = SplitMix64::named(0, &turn.id);
        let answered_at = asked_at.plus(2000 + random.below(20_000));
        let mut message = |role, content, timestamp: Timestamp| Self {
            id: Ulid::new(timestamp, &mut random).to_string(),
            role,
            content,
            created_at: timestamp.to_string(),
        };
        [
            message(Role::User, turn.query, asked_at),
            message(Role::Assistant, turn.response.to_owned(), answered_at),
        ]
    }
}
