//! Generated conversations with the assistant.

use serde::Serialize;

use super::demo::{self, SCRIPTS, Script};
use super::texts::{ANSWERS, CATEGORIES, CLARIFICATIONS, NO_ANSWER, QUESTIONS};
use super::thread::{Thread, numbers_of_thread};
use super::timeline::{Event, Timeline};
use super::{DataSet, Range, pick};
use crate::random::SplitMix64;
use crate::ulid::Ulid;

const SITE: &str = "https://docs.acme.example";

/// One turn of a thread, as the list of conversations returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conversation {
    pub(crate) id: String,
    pub(super) timestamp: String,
    pub(super) query: String,
    pub(super) response: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_type: Option<ResponseType>,
    sources: Vec<CitedPage>,
    resolution_status: ResolutionStatus,
    query_category: Option<&'static str>,
    page_url: Option<String>,
    #[serde(skip)]
    caller: Caller,
    /// The id of the turn, if `id` is that of its thread.
    #[serde(skip)]
    turn: Option<Ulid>,
}

impl Conversation {
    /// The cursor after this row of a list.
    pub(crate) fn cursor(&self, list: &str) -> String {
        let cursor = |turn: Ulid| {
            let mut random = SplitMix64::named(0, &format!("{list}/{turn}"));
            Some(Ulid::new(turn.timestamp()?, &mut random).to_string())
        };
        self.turn
            .and_then(cursor)
            .unwrap_or_else(|| self.id.clone())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ResponseType {
    Answer,
    ClarifyingQuestion,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ResolutionStatus {
    Answered,
    Unanswered,
}

/// A page that an answer cites.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct CitedPage {
    title: String,
    url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    Web,
    Api,
    Other,
}

/// The number of turns from each kind of caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct CallerStats {
    web: u64,
    api: u64,
    other: u64,
    total: u64,
}

impl CallerStats {
    pub(crate) fn of(turns: &[Conversation]) -> Self {
        let mut stats = Self::default();
        for turn in turns {
            stats.total += 1;
            match turn.caller {
                Caller::Web => stats.web += 1,
                Caller::Api => stats.api += 1,
                Caller::Other => stats.other += 1,
            }
        }
        stats
    }
}

/// All conversations of a site.
pub(crate) struct Conversations {
    data_set: DataSet,
    timeline: Timeline,
    paths: Vec<String>,
}

impl Conversations {
    pub(crate) fn new(
        data_set: DataSet,
        seed: u64,
        project: &str,
        in_thirty_days: u32,
        paths: Vec<String>,
    ) -> Self {
        Self {
            data_set,
            timeline: Timeline::new(seed, format!("{project}/assistant"), in_thirty_days),
            paths,
        }
    }

    /// Newest first.
    pub(crate) fn turns(&self, range: Range) -> Vec<Conversation> {
        let events = self.timeline.events(range).rev();
        events.map(|event| self.turn(event)).collect()
    }

    /// Replaces the id of each turn by that of its thread.
    pub(super) fn share_ids(&self, turns: &mut [Conversation]) {
        for turn in turns {
            turn.turn = Ulid::parse(&turn.id);
            if let Some(id) = turn.turn.and_then(|id| self.thread_id(id)) {
                turn.id = id.to_string();
            }
        }
    }

    /// The id of a turn's thread, which is that of its first turn.
    fn thread_id(&self, turn: Ulid) -> Option<Ulid> {
        let number = self.timeline.event_near(turn.timestamp()?)?.number;
        let mut first = self.timeline.event(numbers_of_thread(number).next()?)?;
        Some(Ulid::new(first.timestamp, &mut first.random))
    }

    /// The thread of the turn with this id.
    pub(crate) fn thread(&self, id: &str) -> Option<Thread> {
        let id = Ulid::parse(id)?;
        let mut event = self.timeline.event_near(id.timestamp()?)?;
        let number = event.number;
        if Ulid::new(event.timestamp, &mut event.random) != id {
            return None;
        }
        let turns = numbers_of_thread(number).filter_map(|number| {
            let event = self.timeline.event(number)?;
            let asked_at = event.timestamp;
            Some((asked_at, self.turn(event)))
        });
        Thread::new(turns)
    }

    fn turn(&self, event: Event) -> Conversation {
        match self.data_set {
            DataSet::Test => self.test_turn(event),
            DataSet::Demo => Self::demo_turn(event),
        }
    }

    fn demo_turn(mut event: Event) -> Conversation {
        let (number, timestamp) = (event.number, event.timestamp);
        let random = &mut event.random;
        let id = Ulid::new(timestamp, random).to_string();
        let mut thread = numbers_of_thread(number);
        let first = thread.next().unwrap_or(number);
        let place = numbers_of_thread(number).take_while(|other| *other < number);
        let Script {
            category,
            sources,
            turns,
        } = &SCRIPTS[remainder(first, SCRIPTS.len())];
        let (query, reply) = &turns[place.count() % turns.len()];
        let reply = Reply::of(reply);
        let cited = sources.iter().filter(|_| reply.is_answer());
        Conversation {
            id,
            timestamp: timestamp.to_string(),
            query: (*query).to_owned(),
            response: reply.text,
            sources: cited.map(|path| CitedPage::new(path)).collect(),
            response_type: reply.kind,
            resolution_status: reply.resolution,
            query_category: Some(category),
            page_url: sources.first().map(|path| address(path)),
            caller: Caller::choose(random),
            turn: None,
        }
    }

    fn test_turn(&self, mut event: Event) -> Conversation {
        let (number, timestamp) = (event.number, event.timestamp);
        let random = &mut event.random;
        let id = Ulid::new(timestamp, random).to_string();
        let continues = numbers_of_thread(number).any(|other| other > number);
        let reply = Reply::choose(continues, random);
        let cited = match reply.resolution {
            ResolutionStatus::Answered => random.below(4),
            ResolutionStatus::Unanswered => 0,
        };
        Conversation {
            id,
            timestamp: timestamp.to_string(),
            query: question(number, random),
            response: reply.text,
            response_type: reply.kind,
            sources: (0..cited).filter_map(|_| self.cite(random)).collect(),
            resolution_status: reply.resolution,
            query_category: pick(&CATEGORIES, random)
                .copied()
                .filter(|_| random.below(3) > 0),
            page_url: pick(&self.paths, random)
                .map(|path| address(path))
                .filter(|_| random.below(3) > 0),
            caller: Caller::choose(random),
            turn: None,
        }
    }

    fn cite(&self, random: &mut SplitMix64) -> Option<CitedPage> {
        pick(&self.paths, random).map(|path| CitedPage::new(path))
    }
}

impl Caller {
    fn choose(random: &mut SplitMix64) -> Self {
        match random.below(10) {
            0 => Self::Other,
            1 | 2 => Self::Api,
            _ => Self::Web,
        }
    }
}

impl CitedPage {
    fn new(path: &str) -> Self {
        let title = path.rsplit('/').next().filter(|name| !name.is_empty());
        Self {
            title: title.unwrap_or("Welcome").to_owned(),
            url: address(path),
        }
    }
}

/// The reply of the assistant.
struct Reply {
    text: &'static str,
    kind: Option<ResponseType>,
    resolution: ResolutionStatus,
}

impl Reply {
    fn of(reply: &demo::Reply) -> Self {
        use ResolutionStatus::{Answered, Unanswered};
        use ResponseType::{Answer, ClarifyingQuestion};

        let (text, kind, resolution) = match reply {
            demo::Reply::Answer(text) => (*text, Answer, Answered),
            demo::Reply::Clarification(text) => (*text, ClarifyingQuestion, Answered),
            demo::Reply::None => (NO_ANSWER, Answer, Unanswered),
        };
        Self {
            text,
            kind: Some(kind),
            resolution,
        }
    }

    fn is_answer(&self) -> bool {
        let kind = matches!(self.kind, Some(ResponseType::Answer));
        kind && matches!(self.resolution, ResolutionStatus::Answered)
    }

    /// Picks a reply. One answer in three has no kind.
    fn choose(continues: bool, random: &mut SplitMix64) -> Self {
        if continues && random.below(2) == 0 {
            return Self {
                text: pick(&CLARIFICATIONS, random).copied().unwrap_or(NO_ANSWER),
                kind: Some(ResponseType::ClarifyingQuestion),
                resolution: ResolutionStatus::Answered,
            };
        }
        let kind = (random.below(3) > 0).then_some(ResponseType::Answer);
        let answer = pick(&ANSWERS, random)
            .copied()
            .filter(|_| random.below(6) > 0);
        match answer {
            Some(text) => Self {
                text,
                kind,
                resolution: ResolutionStatus::Answered,
            },
            None => Self {
                text: NO_ANSWER,
                kind,
                resolution: ResolutionStatus::Unanswered,
            },
        }
    }
}

fn question(number: u64, random: &mut SplitMix64) -> String {
    match pick(&QUESTIONS, random) {
        Some(question) if random.below(3) == 0 => format!("{question} ({number})"),
        Some(question) => (*question).to_owned(),
        None => number.to_string(),
    }
}

fn remainder(number: u64, count: usize) -> usize {
    let remainder = u64::try_from(count).map_or(0, |count| number % count);
    usize::try_from(remainder).unwrap_or(0)
}

pub(super) fn address(path: &str) -> String {
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{SITE}{slash}{path}")
}
