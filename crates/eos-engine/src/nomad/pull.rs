//! Whether a task pulls its image, by the events that Nomad's Docker driver leaves.

use super::{Allocation, TaskRun};

const DRIVER: &str = "Driver";
const BEGUN: &str = "Downloading image";
/// The driver says so every two minutes.
const UNDER_WAY: &str = "Docker image pull progress: ";

impl Allocation {
    /// What its tasks pull, in words for a person: `task web pulls image web:1`, with the driver's own progress.
    pub fn pulls(&self) -> Vec<String> {
        let tasks = self.task_states.iter();
        tasks
            .filter_map(|(task, run)| Some(format!("task {task} pulls {}", run.pull()?)))
            .collect()
    }
}

impl TaskRun {
    /// The image that is being pulled, with how far that is where the driver said so.
    fn pull(&self) -> Option<String> {
        // What comes after it, such as a start or a failure, ends the pull.
        let last = self.events.last().filter(|event| event.r#type == DRIVER)?;
        let image = last.details.get("image");
        let image = image.map_or_else(|| "its image".to_owned(), |image| format!("image {image}"));
        match last.display_message.strip_prefix(UNDER_WAY) {
            Some(progress) => Some(format!("{image}: {progress}")),
            None => (last.display_message == BEGUN).then_some(image),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pulled(events: Value) -> Option<String> {
        let run = json!({"State": "pending", "Failed": false, "Restarts": 0, "Events": events});
        serde_json::from_value::<TaskRun>(run).unwrap().pull()
    }

    /// As Nomad 1.11 records them.
    fn event(kind: &str, words: &str, details: Value) -> Value {
        json!({"Type": kind, "Time": 1_763_370_000_000_000_000_i64, "DisplayMessage": words, "Details": details,
            "DriverMessage": words, "ExitCode": 0, "Message": ""})
    }

    #[test]
    fn a_pull_is_seen_until_something_follows_it() {
        let received = event("Received", "Task received by client", json!({}));
        let directory = event(
            "Task Setup",
            "Building Task Directory",
            json!({"message": "Building Task Directory"}),
        );
        let image = json!({"image": "jenkins/jenkins:lts"});
        let begun = event("Driver", "Downloading image", image.clone());
        let words = "Docker image pull progress: Pulled 3/12 (45MiB/200MiB) layers: 2 waiting/7 pulling - est 30.0s remaining";
        let under_way = event("Driver", words, image);
        let started = event("Started", "Task started by client", json!({}));
        let failed = event(
            "Driver Failure",
            "Failed to pull `jenkins/jenkins:lts`",
            json!({}),
        );
        assert_eq!(pulled(json!([received, directory])), None);
        let seen = pulled(json!([received, directory, begun]));
        assert_eq!(seen.as_deref(), Some("image jenkins/jenkins:lts"));
        let seen = pulled(json!([received, directory, begun, under_way]));
        assert_eq!(
            seen.as_deref(),
            Some(
                "image jenkins/jenkins:lts: Pulled 3/12 (45MiB/200MiB) layers: 2 waiting/7 pulling - est 30.0s remaining"
            )
        );
        assert_eq!(pulled(json!([directory, begun, under_way, started])), None);
        assert_eq!(pulled(json!([directory, begun, failed])), None);
    }

    #[test]
    fn another_message_of_a_driver_is_no_pull() {
        let event = event("Driver", "Creating a network", json!({}));
        assert_eq!(pulled(json!([event])), None);
    }
}
