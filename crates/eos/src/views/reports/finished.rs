//! The report of an operation that came to its end: done, or rolled back.

use crate::views::report::{Message, Page, Report, pairs, spend};
use crate::views::text::{GREEN, duration, hang, pad, printable, short_operation, width};
use eos_engine::operation::Finished;
use eos_engine::waiting::Spent;
use serde_json::json;

impl Report for Finished {
    fn text(&self, page: &mut Page) {
        let took = duration(self.took);
        let id = short_operation(&self.operation);
        let undo = match (self.plan.only_act(), self.plan.lost_secret()) {
            (None, None) => format!("   undo: eos undo {id}"),
            (Some(_), _) | (_, Some(_)) => String::new(),
        };
        let (word, line) = match self.taken_back {
            None => ("done", format!("done in {took}   operation {id}{undo}")),
            Some(_) => ("rolled back", format!("rolled back in {took}   operation {id}")),
        };
        let lines = hang("", &line, page.talk_width);
        page.talk(lines.replacen(word, &format!("{GREEN}{word}{GREEN:#}"), 1));
        if !self.outputs.is_empty() {
            page.talk("\n");
        }
        let names = self
            .outputs
            .iter()
            .map(|(name, _)| width(name))
            .max()
            .unwrap_or(0);
        for (name, value) in &self.outputs {
            page.data(format!("{}  {}\n", pad(name, names), printable(value)));
        }
    }

    fn json(&self) -> Message {
        let mut event = json!({
            "operation": self.operation, "environment": self.plan.environment,
            "components": self.plan.components, "outputs": pairs(&self.outputs),
            "taken_back": self.taken_back,
        });
        let Finished { took, waited, .. } = *self;
        spend(&mut event, Spent { took, waited });
        Message::Event("finished", event)
    }
}
