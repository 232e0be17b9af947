//! Any front end makes a request: here one that has no command line.

use std::collections::BTreeMap;

use eos_core::intent::{Intent, Options, Sentence};
use eos_core::option::HIDDEN;
use eos_core::pillar::Words;
use eos_engine::estate::Estate;
use eos_engine::planning::Wish;
use eos_engine::request::{Request, Requester, Terms};
use secrecy::{ExposeSecret, SecretString};

const PRODUCTION: &str = "production";

fn form() -> Requester {
    Requester {
        who: "ada".to_owned(),
        words: "form: new redis, password ***".to_owned(),
        terms: Terms::default(),
    }
}

fn new_redis(by: &Requester, options: Options) -> Wish {
    let intent = Intent {
        sentence: Sentence::CreateComponent {
            environment: PRODUCTION.to_owned(),
            component: "redis".to_owned(),
            recipe: "redis".to_owned(),
            options,
        },
        said: Words {
            words: by.words.clone(),
            who: by.who.clone(),
            when: "2026-11-18T08:00:00Z".to_owned(),
        },
    };
    Wish {
        environment: PRODUCTION.to_owned(),
        intent: Some(intent),
        components: Some(vec!["redis".to_owned()]),
        ..Wish::default()
    }
}

#[tokio::test]
async fn a_front_end_without_a_command_line_has_its_request_planned() {
    let directory = tempfile::tempdir().unwrap();
    let estate = Estate::init(&directory.path().join("estate")).await.unwrap();
    let by = form();
    let wish = new_redis(&by, Options::from([("password".to_owned(), HIDDEN.into())]));
    let secrets = BTreeMap::from([("password".to_owned(), SecretString::from("canary-7f3a"))]);
    let request = Request::new(by, wish).with_secrets(secrets);
    let plan = request.plan(&estate, None).await.unwrap().plan;

    let pillar = plan.pillar["pillar/infrastructure/production.sls"]
        .as_ref()
        .unwrap();
    assert!(
        pillar.contains("form: new redis, password ***") && pillar.contains("who: ada"),
        "{pillar}"
    );
    let given: Vec<&str> = plan
        .steps
        .iter()
        .flat_map(|step| step.work.writes())
        .filter(|item| item.given)
        .map(|item| item.item.as_str())
        .collect();
    assert_eq!(given, ["password"]);
    // The value goes on in the request alone.
    assert_eq!(request.secrets()["password"].expose_secret(), "canary-7f3a");
    let whole = serde_json::to_string(&plan).unwrap();
    assert!(!whole.contains("canary"), "{whole}");
    // A plan changes nothing.
    assert!(estate.compile().unwrap().component(PRODUCTION, "redis").is_none());
}

#[tokio::test]
async fn without_secrets_eos_generates_the_value() {
    let directory = tempfile::tempdir().unwrap();
    let estate = Estate::init(&directory.path().join("estate")).await.unwrap();
    let by = form();
    let wish = new_redis(&by, Options::new());
    let plan = Request::new(by, wish).plan(&estate, None).await.unwrap().plan;
    let writes: Vec<_> = plan.steps.iter().flat_map(|step| step.work.writes()).collect();
    assert!(
        writes.iter().any(|item| item.item == "password" && !item.given),
        "{writes:?}"
    );
}
