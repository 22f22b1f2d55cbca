use quillgate::Millis;
use quillgate_worker::budget::find_step;
use quillgate_worker::jobs::poll::{UNWATCHED_PAUSE, compute_pause};
use quillgate_worker::jobs::poll_budget::{PollBudget, PollUsage};

const HOUR: Millis = Millis::from_seconds(3600);
const DEFAULT: PollBudget = PollBudget {
    limit: 20,
    window: HOUR,
};

/// A simulated project that counts its polls as the gateway does.
struct Project {
    budget: PollBudget,
    /// The end and the number of polls of each step.
    steps: Vec<(Millis, u32)>,
    sent: Vec<Millis>,
    paused_until: Option<Millis>,
}

impl Project {
    const fn new(budget: PollBudget) -> Self {
        Self {
            budget,
            steps: Vec::new(),
            sent: Vec::new(),
            paused_until: None,
        }
    }

    fn usage(&mut self, now: Millis) -> PollUsage {
        let since = now.since(self.budget.window);
        self.steps.retain(|(end, _)| *end > since);
        PollUsage {
            used: self.steps.iter().map(|(_, count)| count).sum(),
            latest: self.sent.last().copied(),
            oldest_step: self.steps.first().map(|(end, _)| *end),
            paused_until: self.paused_until,
        }
    }

    fn send(&mut self, now: Millis) {
        let end = find_step(self.budget.window, now);
        match self.steps.last_mut() {
            Some((own, count)) if *own == end => *count += 1,
            _ => self.steps.push((end, 1)),
        }
        self.sent.push(now);
    }

    /// Polls from `now` until `end`. Jobs are always due. Returns the number of alarms.
    fn poll_until(&mut self, mut now: Millis, end: Millis) -> u32 {
        let mut alarms = 0;
        while now < end {
            alarms += 1;
            let usage = self.usage(now);
            for _ in 0..self.budget.count_allowed(&usage, now) {
                self.send(now);
            }
            let usage = self.usage(now);
            let next = self.budget.find_next(&usage).unwrap_or_default();
            now = next.max(now.plus(Millis(1)));
        }
        alarms
    }

    fn largest_window(&self) -> usize {
        let count = |from: &Millis| {
            let window = *from..from.plus(self.budget.window);
            self.sent.iter().filter(|at| window.contains(*at)).count()
        };
        self.sent.iter().map(count).max().unwrap_or(0)
    }
}

const START: Millis = Millis(1_766_000_000_000);

#[test]
fn no_window_has_more_polls_than_the_budget() {
    for limit in [1, 2, 3, 7, 20, 100, 1_000] {
        for window in [Millis::from_seconds(20), HOUR] {
            let mut project = Project::new(PollBudget { limit, window });
            project.poll_until(START, START.plus(Millis(window.0 * 4)));
            let largest = project.largest_window();
            assert!(largest <= limit as usize, "{largest} of {limit}");
        }
    }
}

#[test]
fn jobs_that_are_always_due_use_most_of_the_budget() {
    let mut project = Project::new(DEFAULT);
    project.poll_until(START, START.plus(Millis(HOUR.0 * 24)));
    let per_hour = project.sent.len() / 24;
    assert!((16..=20).contains(&per_hour), "{per_hour} polls per hour");
}

#[test]
fn single_five_minute_job_is_polled_about_every_40_seconds() {
    let mut project = Project::new(DEFAULT);
    project.poll_until(START, START.plus(Millis::from_seconds(300)));
    let gaps = project.sent.windows(2).map(|pair| pair[1].since(pair[0]));
    let largest = gaps.max().unwrap_or_default();
    assert!(largest <= Millis::from_seconds(55), "{} ms", largest.0);
}

#[test]
fn large_budget_does_not_stretch_the_usual_interval() {
    let budget = PollBudget {
        limit: 20_000,
        ..DEFAULT
    };
    let usage = PollUsage {
        used: 1_000,
        latest: Some(START),
        ..PollUsage::default()
    };
    let allowed = budget.count_allowed(&usage, START.plus(Millis::from_seconds(5)));
    assert!(allowed >= 100, "{allowed} jobs per interval of 5 s");
}

#[test]
fn spacing_grows_as_the_budget_is_used() {
    for (used, seconds) in [(0, Some(30)), (10, Some(60)), (20, None)] {
        let expected = seconds.map(Millis::from_seconds);
        assert_eq!(DEFAULT.compute_spacing(used), expected, "{used}");
    }
}

#[test]
fn no_poll_is_allowed_during_a_pause() {
    let pause = Millis::from_seconds(90);
    let usage = PollUsage {
        paused_until: Some(START.plus(pause)),
        ..PollUsage::default()
    };
    assert_eq!(DEFAULT.find_next(&usage), Some(START.plus(pause)));
    let before = START.plus(Millis(pause.0 - 1));
    assert_eq!(DEFAULT.count_allowed(&usage, before), 0);
    assert_eq!(DEFAULT.count_immediate(&usage, before), 0);
    assert_eq!(DEFAULT.count_immediate(&usage, START.plus(pause)), 10);
    assert!(DEFAULT.count_allowed(&usage, START.plus(pause)) > 0);
}

#[test]
fn lists_and_new_watchers_use_at_most_half_of_the_budget() {
    let usage = |used| PollUsage {
        used,
        latest: Some(START),
        ..PollUsage::default()
    };
    assert_eq!(DEFAULT.count_immediate(&usage(0), START), 10);
    assert_eq!(DEFAULT.count_immediate(&usage(7), START), 3);
    assert_eq!(DEFAULT.count_immediate(&usage(10), START), 0);
    let smallest = PollBudget {
        limit: 1,
        ..DEFAULT
    };
    assert_eq!(smallest.count_immediate(&usage(0), START), 1);
}

const INTERVAL: Millis = Millis::from_seconds(5);
/// The age of a job that just started.
const NEW: Millis = Millis(0);

#[test]
fn pause_doubles_with_each_failure_up_to_a_minute() {
    for (failures, watched, unwatched) in [
        (0, 5, 15),
        (1, 10, 30),
        (2, 20, 60),
        (3, 40, 60),
        (4, 60, 60),
        (6, 60, 60),
        (7, 60, 60),
        (u32::MAX, 60, 60),
    ] {
        let pause = |interval| compute_pause(interval, NEW, failures);
        let expected = Millis::from_seconds(watched);
        assert_eq!(pause(INTERVAL), expected, "{failures:?}");
        let expected = Millis::from_seconds(unwatched);
        assert_eq!(pause(UNWATCHED_PAUSE), expected, "{failures:?}");
    }
}

#[test]
fn interval_longer_than_a_minute_is_unchanged() {
    let interval = Millis::from_seconds(300);
    for failures in [0, 1, 9] {
        assert_eq!(compute_pause(interval, NEW, failures), interval);
    }
    let half_a_minute = Millis::from_seconds(30);
    let pause = |failures| compute_pause(half_a_minute, NEW, failures);
    assert_eq!((pause(0), pause(1)), (half_a_minute, Millis(60_000)));
    let longest = compute_pause(Millis(u64::MAX), NEW, 9);
    assert_eq!(longest, Millis(u64::MAX));
}

#[test]
fn pause_grows_with_the_age_of_the_job() {
    for (age, watched, unwatched) in [
        (0, 5, 15),
        (600, 5, 15),
        (1_200, 10, 15),
        (1_800, 15, 15),
        (3_600, 30, 30),
        (21_600, 180, 180),
        (86_400, 720, 720),
    ] {
        let pause = |interval| compute_pause(interval, Millis::from_seconds(age), 0);
        assert_eq!(pause(INTERVAL), Millis::from_seconds(watched), "{age:?}");
        let expected = Millis::from_seconds(unwatched);
        assert_eq!(pause(UNWATCHED_PAUSE), expected, "{age:?}");
    }
    // A failing upstream never shortens the pause.
    let day = Millis::from_seconds(86_400);
    for failures in [0, 1, 9] {
        let pause = compute_pause(INTERVAL, day, failures);
        assert_eq!(pause, Millis::from_seconds(720));
    }
}
