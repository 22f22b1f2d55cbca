//! The state machine of jobs: random interleavings against a model of Mintlify, the store, the
//! watchers and the receivers. `PROPTEST_CASES=10000 cargo test --release -p quillgate-worker --test
//! decisions interleaving` runs about a million steps.

use std::collections::HashMap;

use proptest::prelude::*;
use quillgate::Millis;
use quillgate_worker::jobs::machine::{
    CloseReason, Effect, Event, Interest, Job, PollFailure, Record, State,
};
use quillgate_worker::jobs::poll::CREATION_DELAY;
use quillgate_worker::jobs::poll_budget::{PollBudget, PollUsage};
use quillgate_worker::jobs::webhook::JobEnd;

use super::{MISSING, TIMING, state};

const SECOND: Millis = Millis::from_seconds(1);
const BUDGET: PollBudget = PollBudget {
    limit: 20,
    window: Millis::from_seconds(3_600),
};
const JOBS: usize = 2;
const ENDS: [JobEnd; 2] = [JobEnd::Completed, JobEnd::Failed];

#[derive(Debug, Clone, Copy)]
enum Action {
    /// Mintlify creates the job, with a webhook if `true`. The response is on its way.
    Create(bool),
    /// The gateway receives the response to the creation.
    CreateAnswered,
    /// The job changes at Mintlify. It may finish, or start again.
    Change(Option<JobEnd>),
    /// Mintlify accepts a follow-up. The response is on its way, with the new state if `true`, or
    /// is lost.
    FollowUp(Option<bool>),
    /// The gateway receives the response to the oldest follow-up, or knows that it is lost.
    FollowUpAnswered,
    Join,
    Leave,
    Delete,
    /// The upstream processes all running polls. Their responses are on their way.
    Process,
    /// The gateway receives the response to a poll.
    Answer(usize, Option<PollFailure>),
    /// The response to the oldest poll arrives and cannot be stored.
    Lose,
    Wait(Millis),
    /// The runtime evicts the object. Sockets stay open.
    Restart,
}

fn action() -> impl Strategy<Value = Action> {
    let failure = (any::<bool>(), prop::option::of(0..600_u64));
    let failure = failure.prop_map(|(is_missing, wait)| PollFailure {
        is_missing,
        retry_after: wait.map(Millis::from_seconds),
    });
    prop_oneof![
        2 => any::<bool>().prop_map(Action::Create),
        3 => Just(Action::CreateAnswered),
        3 => prop::option::of(prop::sample::select(ENDS.as_slice())).prop_map(Action::Change),
        2 => any::<Option<bool>>().prop_map(Action::FollowUp),
        2 => Just(Action::FollowUpAnswered),
        2 => Just(Action::Join),
        1 => Just(Action::Leave),
        1 => Just(Action::Delete),
        4 => Just(Action::Process),
        6 => (0..4_usize, prop::option::weighted(0.3, failure))
            .prop_map(|(poll, failure)| Action::Answer(poll, failure)),
        1 => Just(Action::Lose),
        6 => prop_oneof![0..20_u64, 0..2_000_u64]
            .prop_map(|seconds| Action::Wait(Millis::from_seconds(seconds))),
        1 => Just(Action::Restart),
    ]
}

/// A job with everything around it.
#[derive(Default)]
struct Slot {
    job: Job,
    truth: Option<State>,
    /// The response to the creation that has not arrived yet.
    creation: Option<Event>,
    /// The running polls, each with its response once Mintlify has processed the poll.
    polls: HashMap<u64, Option<State>>,
    /// The responses to follow-ups that have not arrived yet; `None` if lost.
    follow_ups: Vec<Option<State>>,
    /// The last state that each watcher received.
    watchers: Vec<String>,
    /// The watchers that wait for a poll of a job that is not stored.
    joining: usize,
    /// The announcements since the job last started.
    announced: Vec<JobEnd>,
    is_recorded: bool,
}

impl Slot {
    fn is_listed(&self) -> bool {
        let record = self.job.record.as_ref();
        record.is_some_and(|record| record.is_listed)
    }
}

struct World {
    now: Millis,
    count: u64,
    slots: [Slot; JOBS],
    /// The times of the polls that use the budget.
    counted: Vec<Millis>,
}

impl World {
    fn new() -> Self {
        Self {
            now: Millis::from_seconds(1_000_000),
            count: 0,
            slots: [Slot::default(), Slot::default()],
            counted: Vec::new(),
        }
    }

    fn usage(&self) -> PollUsage {
        let in_window = |at: &&Millis| at.plus(BUDGET.window) > self.now;
        let polls: Vec<_> = self.counted.iter().filter(in_window).collect();
        PollUsage {
            used: u32::try_from(polls.len()).expect("few polls"),
            latest: polls.last().map(|at| **at),
            oldest_step: polls.first().map(|at| **at),
            paused_until: None,
        }
    }

    fn interest(&self, slot: usize) -> Interest {
        let slot = &self.slots[slot];
        let next = slot.is_listed().then(|| BUDGET.find_next(&self.usage()));
        let earliest_poll = next.flatten();
        Interest {
            is_watched: !slot.watchers.is_empty(),
            earliest_poll,
        }
    }

    fn new_state(&mut self, end: Option<JobEnd>) -> State {
        self.count += 1;
        state(&self.count.to_string(), end)
    }

    fn act(&mut self, slot: usize, action: Action) {
        match action {
            Action::Create(has_webhook) => {
                if self.slots[slot].truth.is_none() {
                    let state = self.new_state(None);
                    self.slots[slot].truth = Some(state.clone());
                    self.slots[slot].creation = Some(Event::Created { state, has_webhook });
                }
            }
            Action::CreateAnswered => {
                if let Some(created) = self.slots[slot].creation.take() {
                    self.slots[slot].is_recorded = true;
                    self.apply(slot, created);
                }
            }
            Action::Change(end) => {
                let state = self.new_state(end);
                let truth = &mut self.slots[slot].truth;
                *truth = truth.take().map(|_| state);
            }
            Action::FollowUp(is_active) => {
                let state = self.new_state(None);
                let slot = &mut self.slots[slot];
                // A caller knows the id only from the response to the creation.
                if let (Some(earlier), None) = (slot.truth.clone(), &slot.creation) {
                    slot.truth = Some(state.clone());
                    let response = is_active.map(|is| if is { state } else { earlier });
                    slot.follow_ups.push(response);
                }
            }
            Action::FollowUpAnswered => {
                if !self.slots[slot].follow_ups.is_empty() {
                    let state = self.slots[slot].follow_ups.remove(0);
                    self.apply(slot, Event::FollowedUp(state));
                }
            }
            Action::Join => self.join(slot),
            Action::Leave => {
                self.slots[slot].watchers.pop();
            }
            Action::Delete => {
                if self.slots[slot].job.record.is_some() {
                    self.slots[slot].is_recorded = false;
                    self.apply(slot, Event::Deleted);
                }
            }
            Action::Process => {
                let Slot { polls, truth, .. } = &mut self.slots[slot];
                for response in polls.values_mut() {
                    response.clone_from(truth);
                }
            }
            Action::Answer(poll, failure) => self.answer(slot, poll, failure),
            Action::Lose => {
                let Slot { polls, job, .. } = &mut self.slots[slot];
                if let Some(poll) = polls.keys().min().copied() {
                    polls.remove(&poll);
                    job.polling.fail(poll, self.now);
                }
            }
            Action::Wait(time) => self.now = self.now.plus(time),
            Action::Restart => {
                for slot in &mut self.slots {
                    slot.job.polling = <_>::default();
                    slot.polls.clear();
                    slot.joining = 0;
                }
            }
        }
        for slot in 0..JOBS {
            let interest = self.interest(slot);
            self.apply(slot, Event::Due(interest));
        }
    }

    fn join(&mut self, slot: usize) {
        let has_room = BUDGET.count_immediate(&self.usage(), self.now) > 0;
        let Slot { job, .. } = &self.slots[slot];
        let is_due = job.is_poll_due(None, self.now, &TIMING) && job.polling.running.is_none();
        if is_due && (!self.slots[slot].is_listed() || has_room) {
            self.apply_effect(slot, &Effect::Poll);
        }
        match self.slots[slot].job.record.clone() {
            Some(record) => self.open(slot, record),
            None => self.slots[slot].joining += 1,
        }
    }

    /// Opens a stream, which sends the stored state and ends if nothing more is expected.
    fn open(&mut self, slot: usize, record: Record) {
        if !record.is_closed(&TIMING, self.now) {
            self.slots[slot].watchers.push(record.state.data);
        }
    }

    fn answer(&mut self, slot: usize, poll: usize, failure: Option<PollFailure>) {
        let mut running: Vec<_> = self.slots[slot].polls.keys().copied().collect();
        running.sort_unstable();
        let Some(&poll) = running.get(poll % running.len().max(1)) else {
            return;
        };
        let Slot { polls, truth, .. } = &mut self.slots[slot];
        let response = polls.remove(&poll).flatten().or_else(|| truth.clone());
        let event = match (failure, response) {
            (None, Some(state)) => Event::PollAnswered(poll, state),
            (failure, _) => Event::PollFailed(poll, failure.unwrap_or(MISSING)),
        };
        self.apply(slot, event);
        if self.slots[slot].polls.is_empty() {
            for _ in 0..std::mem::take(&mut self.slots[slot].joining) {
                if let Some(record) = self.slots[slot].job.record.clone() {
                    self.open(slot, record);
                }
            }
        }
    }

    /// Applies an event as the object does, and checks what must always hold.
    fn apply(&mut self, slot: usize, event: Event) {
        let before = self.slots[slot].job.record.clone();
        let is_answer = matches!(event, Event::PollAnswered(..));
        let is_failure = matches!(event, Event::PollFailed(..));
        // A late response to a follow-up can repeat an end that was already announced.
        if matches!(event, Event::FollowedUp(_)) {
            let end = before.as_ref().and_then(|record| record.state.end);
            let announced = &mut self.slots[slot].announced;
            announced.retain(|one| Some(*one) == end);
        }
        let effects = self.slots[slot].job.apply(event, self.now, &TIMING);
        let after = self.slots[slot].job.record.clone();
        for effect in &effects {
            self.apply_effect(slot, effect);
        }
        if let (Some(before), Some(after)) = (before, after) {
            let changed = u64::from(before.state.data != after.state.data);
            let expected = before.version + changed;
            assert_eq!(after.version, expected, "each change has a number");
            let number = |record: &Record| record.state.data.parse::<u64>().ok();
            let is_newer = number(&after) >= number(&before);
            // The response to a follow-up can repeat an earlier state.
            assert!(is_newer || !is_answer, "a poll undoes a newer change");
            let is_gone = effects.contains(&Effect::CloseWatchers(CloseReason::Gone));
            let is_new = self.now.since(after.created_at) < CREATION_DELAY;
            assert!(!(is_failure && is_gone && is_new), "a new job is gone");
            if after.started_at != before.started_at {
                self.slots[slot].announced.clear();
            }
        } else {
            self.slots[slot].announced.clear();
        }
        self.check(slot);
    }

    fn apply_effect(&mut self, slot: usize, effect: &Effect) {
        match effect {
            Effect::Poll => {
                let running = self.slots[slot].job.polling.running;
                assert!(running.is_none(), "one poll at a time");
                if self.slots[slot].is_listed() {
                    self.counted.push(self.now);
                    let used = self.usage().used;
                    assert!(used <= BUDGET.limit, "{used} polls in a window");
                }
                self.count += 1;
                self.slots[slot].polls.insert(self.count, None);
                self.apply(slot, Event::PollStarted(self.count));
            }
            Effect::Charge => assert!(!self.slots[slot].is_listed()),
            Effect::Notify => {
                let slot = &mut self.slots[slot];
                let record = slot.job.record.as_ref().expect("a record");
                slot.watchers.fill(record.state.data.clone());
            }
            Effect::QueueWebhook(announcement) => {
                let announced = &mut self.slots[slot].announced;
                let is_repeated = announced.last() == Some(announcement);
                let is_lost = |end: &JobEnd| matches!(end, JobEnd::Unfinished | JobEnd::NotFound);
                let is_allowed = !is_repeated && !announced.iter().any(is_lost);
                assert!(is_allowed, "{announcement:?} after {announced:?}");
                announced.push(*announcement);
            }
            Effect::UpdateWebhook(end) => {
                let announced = &self.slots[slot].announced;
                assert!(announced.contains(end), "{announced:?}");
            }
            Effect::CloseWatchers(reason) => {
                if *reason == CloseReason::Finished {
                    let record = self.slots[slot].job.record.as_ref().expect("a record");
                    let all = self.slots[slot].watchers.iter();
                    assert!(all.into_iter().all(|last| *last == record.state.data));
                }
                self.slots[slot].watchers.clear();
            }
        }
    }

    fn check(&self, slot: usize) {
        let Slot { job, watchers, .. } = &self.slots[slot];
        let Some(record) = &job.record else {
            assert!(watchers.is_empty(), "a watcher of a job that is not stored");
            return;
        };
        let is_deleted = record.is_listed && !self.slots[slot].is_recorded;
        assert!(!is_deleted, "a deleted record came back");
        let is_awaited = !watchers.is_empty() || record.has_webhook;
        let next = job.next_time(self.interest(slot), self.now, &TIMING);
        if is_awaited && !record.is_finished() && !record.is_given_up {
            assert!(next.is_some(), "an awaited job is never due");
        }
        let is_current = |last: &String| *last == record.state.data;
        assert!(watchers.iter().all(is_current), "a stale watcher");
    }

    /// Lets Mintlify finish the jobs, and every response arrive. Then everybody knows the end.
    fn finish(&mut self) {
        for slot in 0..JOBS {
            self.act(slot, Action::CreateAnswered);
            while !self.slots[slot].follow_ups.is_empty() {
                self.now = self.now.plus(SECOND);
                self.act(slot, Action::FollowUpAnswered);
            }
            self.act(slot, Action::Change(Some(JobEnd::Archived)));
        }
        let is_watched = |slot: &Slot| !slot.watchers.is_empty();
        let watched: Vec<_> = self.slots.iter().map(is_watched).collect();
        let is_quiet = (0..400).any(|_| {
            for slot in 0..JOBS {
                self.act(slot, Action::Process);
                self.act(slot, Action::Answer(0, None));
            }
            let next = |slot: usize| {
                let interest = self.interest(slot);
                self.slots[slot].job.next_time(interest, self.now, &TIMING)
            };
            let next = (0..JOBS).filter_map(next).min();
            self.now = next.map_or(self.now, |at| self.now.max(at).plus(Millis(1)));
            next.is_none()
        });
        assert!(is_quiet, "a job is polled for ever");
        for (slot, was_watched) in self.slots.iter().zip(watched) {
            let Some(record) = &slot.job.record else {
                continue;
            };
            let has_watcher = !slot.watchers.is_empty();
            assert!(!has_watcher, "a watcher waits for ever: {record:?}");
            let is_known = record.state.end == Some(JobEnd::Archived) || record.is_given_up;
            assert!(is_known || !was_watched, "the end is unknown: {record:?}");
            let is_told = !slot.announced.is_empty() || record.is_given_up;
            let needs_webhook = record.has_webhook && !record.is_restarted();
            assert!(is_told || !needs_webhook, "no webhook: {record:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn every_interleaving_keeps_the_promises_of_a_job(
        actions in prop::collection::vec((0..JOBS, action()), 0..200),
    ) {
        let mut world = World::new();
        for (slot, action) in actions {
            world.act(slot, action);
            world.now = world.now.plus(SECOND);
        }
        world.finish();
    }
}
