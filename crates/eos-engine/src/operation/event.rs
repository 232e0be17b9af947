//! The events of an operation: a terminal, a stream of JSON or any other front end subscribes to them.

use std::cell::RefCell;
use std::time::Duration;

use eos_core::plan::Step;
use serde::Serialize;

/// As `--json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Begin {
        operation: String,
        /// How many.
        steps: usize,
    },
    /// The operation waits for what another holds.
    Waiting {
        message: String,
    },
    /// Something is not as it should be, and the operation goes on all the same.
    Warning {
        message: String,
    },
    Step(StepOf),
    Progress {
        number: usize,
        message: String,
    },
    /// The effect of a step was read back.
    Done {
        #[serde(flatten)]
        of: StepOf,
        effect: String,
        #[serde(rename = "seconds", serialize_with = "seconds")]
        took: Duration,
    },
    /// From here on the operation is rolled back, in so many steps.
    TurnBack {
        why: String,
        steps: usize,
    },
}

/// The step that an event is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepOf {
    pub number: usize,
    /// Its id in the plan.
    pub step: String,
    pub title: &'static str,
    pub component: String,
}

impl StepOf {
    pub(super) fn new(number: usize, step: &Step) -> Self {
        Self {
            number,
            step: step.id.clone(),
            title: step.work.title(),
            component: step.component.clone(),
        }
    }
}

fn seconds<S: serde::Serializer>(took: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(took.as_secs_f64())
}

/// Who hears the events of an operation, in their order.
pub type Subscriber<'a> = dyn FnMut(&Event) + 'a;

/// The steps of a run go on side by side and share one subscriber.
pub(super) struct Events<'a>(RefCell<&'a mut Subscriber<'a>>);

impl<'a> Events<'a> {
    pub fn new(subscriber: &'a mut Subscriber<'a>) -> Self {
        Self(RefCell::new(subscriber))
    }

    pub fn send(&self, event: Event) {
        (self.0.borrow_mut())(&event);
    }

    pub fn begin(&self, operation: &str, steps: usize) {
        let operation = operation.to_owned();
        self.send(Event::Begin { operation, steps });
    }

    pub fn waiting(&self, message: &str) {
        let message = message.to_owned();
        self.send(Event::Waiting { message });
    }

    pub fn warn(&self, message: String) {
        self.send(Event::Warning { message });
    }

    pub fn progress(&self, number: usize, message: &str) {
        let message = message.to_owned();
        self.send(Event::Progress { number, message });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_event_has_the_form_that_programs_read() {
        let of = StepOf {
            number: 2,
            step: "2-hello".to_owned(),
            title: "deliver",
            component: "hello".to_owned(),
        };
        let step = json!({"event": "step", "number": 2, "step": "2-hello", "title": "deliver", "component": "hello"});
        assert_eq!(to_json(Event::Step(of.clone())), step.to_string());
        let done = Event::Done {
            of,
            effect: "delivered".to_owned(),
            took: Duration::from_millis(1500),
        };
        let mut expected = step;
        expected["event"] = "done".into();
        expected["effect"] = "delivered".into();
        expected["seconds"] = 1.5.into();
        assert_eq!(to_json(done), expected.to_string());
        let turn = Event::TurnBack {
            why: "job failed: rolling back".to_owned(),
            steps: 3,
        };
        let expected = json!({"event": "turn_back", "why": "job failed: rolling back", "steps": 3});
        assert_eq!(to_json(turn), expected.to_string());
        let warning = Event::Warning {
            message: "Eos did not release the lock".to_owned(),
        };
        let expected = json!({"event": "warning", "message": "Eos did not release the lock"});
        assert_eq!(to_json(warning), expected.to_string());
    }

    /// With the order of its fields.
    fn to_json(event: Event) -> String {
        serde_json::to_string(&event).expect("an event has a JSON form")
    }
}
