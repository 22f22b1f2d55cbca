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

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::super::DataSet;
    use super::super::conversations::Conversations;
    use super::super::conversations::tests::{conversations, month};
    use super::*;

    #[test]
    fn a_thread_is_found_by_the_id_of_any_turn() {
        let conversations = conversations();
        let all = month();
        let mut turns_of = HashMap::<String, Vec<&Conversation>>::new();
        for turn in all.iter().rev() {
            let thread = conversations.thread(&turn.id).expect("a thread");
            turns_of.entry(thread.id).or_default().push(turn);
        }
        let complete = turns_of
            .iter()
            .filter(|(id, turns)| turns[0].id == **id && turns.len() > 1);
        let mut count = 0;
        for (id, turns) in complete {
            let thread = conversations.thread(id).expect("a thread");
            let expected = turns
                .iter()
                .flat_map(|turn| [turn.query.as_str(), turn.response]);
            let expected: Vec<_> = expected.collect();
            let contents: Vec<_> = thread
                .messages
                .iter()
                .map(|one| one.content.as_str())
                .collect();
            assert!(contents.starts_with(&expected));
            assert_eq!(thread.created_at, turns[0].timestamp);
            count += 1;
        }
        assert!(count > 100, "{count}");
        let longest = turns_of.values().map(Vec::len).max();
        assert_eq!(longest, Some(3));
    }

    #[test]
    fn messages_of_a_thread_are_in_order_and_alternate_roles() {
        let conversations = conversations();
        for turn in month() {
            let thread = conversations.thread(&turn.id).expect("a thread");
            let times = thread.messages.iter().map(|message| &message.created_at);
            assert!(times.is_sorted());
            let roles = thread.messages.iter().map(|message| message.role);
            let expected = [Role::User, Role::Assistant].into_iter().cycle();
            assert!(roles.zip(expected).all(|(role, expected)| role == expected));
            let ids: HashSet<_> = thread.messages.iter().map(|message| &message.id).collect();
            assert_eq!(ids.len(), thread.messages.len());
        }
    }

    #[test]
    fn an_unknown_id_finds_no_thread() {
        let conversations = conversations();
        let id = month()[0].id.clone();
        assert!(conversations.thread(&id).is_some());
        let other = Conversations::new(DataSet::Test, 2, "demo-docs", 600, Vec::new());
        assert_eq!(other.thread(&id), None);
        let none = Conversations::new(DataSet::Test, 1, "demo-docs", 0, Vec::new());
        assert_eq!(none.thread(&id), None);
        assert_eq!(conversations.thread("01ARZ3NDEKTSV4RRFFQ69G5FAV"), None);
        assert_eq!(conversations.thread("7ZZZZZZZZZZZZZZZZZZZZZZZZZ"), None);
    }
}
