//! Salt's event stream: one connection, however many steps are followed at the same time.
//!
//! Each connection takes one of the API's few threads for as long as it is open, and is sent everything that happens
//! on the master.

use std::sync::Arc;

use reqwest::Response;
use serde_json::Value;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio::task::JoinHandle;

/// Who falls further behind than this has lost events, and must ask instead.
const KEPT: usize = 1024;
/// Of a line and of an event's data, in bytes.
const LONGEST: usize = 16 << 20;

pub struct Event {
    pub tag: String,
    pub(super) data: String,
}

impl Event {
    /// Whether a minion returns a job, whoever's.
    pub fn is_return_of(&self, minion: &str) -> bool {
        let job = self
            .tag
            .strip_prefix("salt/job/")
            .and_then(|rest| rest.split_once('/'));
        job.is_some_and(|(_, what)| what.strip_prefix("ret/") == Some(minion))
    }

    /// `{"tag": ..., "data": {...}}`, read only if somebody waits for this tag.
    pub fn read(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&self.data)
    }
}

/// The connection; it ends when this is dropped and nobody follows it any more.
pub struct EventStream {
    events: Receiver<Arc<Event>>,
    reading: JoinHandle<()>,
}

impl EventStream {
    pub fn of(response: Response) -> Self {
        let (sender, events) = broadcast::channel(KEPT);
        let reading = tokio::spawn(pass_on(response, sender));
        EventStream { events, reading }
    }

    pub fn is_lost(&self) -> bool {
        self.reading.is_finished()
    }

    /// All events from now on.
    pub fn follow(&self) -> Followed {
        Followed {
            events: self.events.resubscribe(),
        }
    }
}

/// The stream as one step sees it.
pub struct Followed {
    events: Receiver<Arc<Event>>,
}

impl Followed {
    /// The next event, or nothing when one may have been missed. May be dropped while waiting without losing any.
    pub async fn next(&mut self) -> Option<Arc<Event>> {
        self.events.recv().await.ok()
    }
}

async fn pass_on(mut response: Response, sender: Sender<Arc<Event>>) {
    let mut parser = EventParser::default();
    while let Ok(Some(chunk)) = response.chunk().await {
        for event in parser.read(&chunk) {
            if sender.send(Arc::new(event)).is_err() {
                return;
            }
        }
    }
}

/// Reads `tag:` and `data:` lines; an empty line ends an event.
///
/// Salt writes a tag as it is, and API users choose some: one that holds line breaks must not pass for another event. So an
/// event with a second tag is dropped, and a line of nothing but a carriage return is no end.
#[derive(Default)]
struct EventParser {
    line: Vec<u8>,
    tag: String,
    data: String,
    /// It has two tags, or a part of it was too long to keep.
    is_refused: bool,
}

impl EventParser {
    fn read(&mut self, chunk: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        let mut lines = chunk.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = lines.next() {
            match self.line.len() + part.len() > LONGEST {
                true => self.is_refused = true,
                false => self.line.extend_from_slice(part),
            }
            if lines.peek().is_some() {
                let line = std::mem::take(&mut self.line);
                events.extend(self.end_line(&String::from_utf8_lossy(&line)));
            }
        }
        events
    }

    fn end_line(&mut self, line: &str) -> Option<Event> {
        if let Some(tag) = line.strip_prefix("tag: ") {
            self.is_refused |= !self.tag.is_empty();
            self.tag = tag.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ") {
            match self.data.len() + data.len() > LONGEST {
                true => self.is_refused = true,
                false => self.data.push_str(data),
            }
        } else if line.is_empty() && !self.tag.is_empty() {
            let event = Event {
                tag: std::mem::take(&mut self.tag),
                data: std::mem::take(&mut self.data),
            };
            return (!std::mem::take(&mut self.is_refused)).then_some(event);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_without_end_is_dropped_and_fills_no_memory() {
        let mut parser = EventParser::default();
        let chunk = vec![b'x'; 1 << 20];
        assert_eq!(parser.read(b"tag: eos/o/s\ndata: ").len(), 0);
        for _ in 0..(LONGEST >> 20) + 3 {
            assert_eq!(parser.read(&chunk).len(), 0);
        }
        assert!(parser.line.len() <= LONGEST);
        assert_eq!(parser.read(b"\n\n").len(), 0);
        let next = parser.read(b"tag: eos/o/t\ndata: {}\n\n");
        assert_eq!(
            next.iter().map(|event| event.tag.as_str()).collect::<Vec<_>>(),
            ["eos/o/t"]
        );
    }

    #[test]
    fn a_tag_with_line_breaks_is_no_other_event() {
        let forged = concat!(
            "tag: salt/netapi/hook/x\n",
            "tag: salt/job/20261115/ret/control\n",
            r#"data: {"data":{"id":"control","jid":"20261115","return":{"status":"done"}}}"#,
            "\n\r\nx\n",
            "data: {}\n\n",
            "tag: eos/01JCX4/3\ndata: {}\n\n",
        );
        let mut parser = EventParser::default();
        let tags: Vec<String> = parser
            .read(forged.as_bytes())
            .into_iter()
            .map(|event| event.tag)
            .collect();
        assert_eq!(tags, ["eos/01JCX4/3"]);
    }

    #[test]
    fn events_are_read_whatever_way_the_stream_is_cut() {
        let stream = concat!(
            "retry: 400\n",
            "tag: salt/job/20261115/new\n",
            r#"data: {"data":{"jid":"20261115","tgt":"node1","fun":"eos.make"},"tag":"salt/job/20261115/new"}"#,
            "\n\n",
            "tag: eos/01JCX4/3\n",
            r#"data: {"tag":"eos/01JCX4/3","data":{"id":"node1","cmd":"_minion_event","data":{"message":"größer"}}}"#,
            "\n\n",
            "tag: salt/job/20261115/ret/node1\n",
            r#"data: {"data":{"id":"node1","success":true,"retcode":0,"return":{"status":"done"}},"tag":".."}"#,
            "\n\n",
        )
        .as_bytes();
        for size in [1, 2, 7, stream.len()] {
            let mut parser = EventParser::default();
            let events: Vec<Event> = stream.chunks(size).flat_map(|chunk| parser.read(chunk)).collect();
            let tags: Vec<&str> = events.iter().map(|event| event.tag.as_str()).collect();
            let last = "salt/job/20261115/ret/node1";
            assert_eq!(tags, ["salt/job/20261115/new", "eos/01JCX4/3", last], "{size}");
            assert!(!events[0].is_return_of("node1"));
            assert!(events[2].is_return_of("node1") && !events[2].is_return_of("node"));
            assert_eq!(events[1].read().unwrap()["data"]["data"]["message"], "größer");
        }
    }
}
