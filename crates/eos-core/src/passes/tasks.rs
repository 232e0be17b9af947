//! What a service says of its container, and its tasks before and after its start.

use super::{CONFIG, driver, each, plain_text, word};
use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::lowered::{Container, Driver, More, Task};
use crate::option;
use crate::recipe::{self, Run, Service};
use crate::source::Sourced;
use crate::template::Template;

/// Nothing, for a service that says none of it.
pub fn more(expanded: &Expanded<'_>, service: &Service) -> Result<Option<Box<More>>, Diagnostic> {
    let recipe = expanded.recipe;
    let requires = recipe.requires.asks().then(|| recipe.requires.clone());
    let paths = service.files.iter();
    let more = More {
        container: container(expanded, &service.container)?,
        tasks: each(&service.tasks, |task| lowered(expanded, service, task))?,
        paths: paths
            .filter_map(|file| Some((file.name.clone(), file.path.clone()?)))
            .collect(),
        reload: each(&service.reload, |word| reload_word(expanded, service, word))?,
        requires,
    };
    let says_nothing = more.tasks.is_empty()
        && more.paths.is_empty()
        && more.reload.is_empty()
        && more.requires.is_none()
        && service.container.is_default();
    Ok((!says_nothing).then(|| Box::new(more)))
}

/// A word of a command that Nomad has the running task carry out. It puts nothing into such a word: in a container the
/// directory of the files has a fixed name.
fn reload_word(
    expanded: &Expanded<'_>,
    service: &Service,
    template: &Template,
) -> Result<Sourced<String>, Diagnostic> {
    let word = word(expanded, template)?;
    let known = match service.run {
        Run::Image(..) => word.map(|word| word.replace("${NOMAD_TASK_DIR}", "/local")),
        Run::Program(_) => word,
    };
    match known.value.contains("${") {
        true => Err(expanded.wrong(template, "a word of reload is known before the task starts")),
        false => Ok(known),
    }
}

fn lowered(expanded: &Expanded<'_>, service: &Service, task: &recipe::Task) -> Result<Task, Diagnostic> {
    let run = match (&task.run, &service.run) {
        (Some(run), _) => driver(expanded, run)?,
        (None, Run::Image(image, _)) => Driver::Docker {
            image: plain_text(expanded, "The image", image, CONFIG)?,
            args: each(&task.args, |template| word(expanded, template))?,
        },
        // Refused where the recipe is read.
        (None, run @ Run::Program(_)) => driver(expanded, run)?,
    };
    let mut container = container(expanded, &task.container)?;
    // In the image of its service it is the same user: both work on the same volumes.
    if task.run.is_none() && container.user.is_none() {
        container.user = user(expanded, &service.container)?;
    }
    Ok(Task {
        name: task.name.clone(),
        moment: task.moment,
        driver: run,
        container,
        cpu: task.cpu,
        memory: task.memory,
        declared: expanded.line_source(task.at.line),
    })
}

fn container(expanded: &Expanded<'_>, said: &recipe::Container) -> Result<Container, Diagnostic> {
    let hostname = given(expanded, "The hostname", said.hostname.as_ref())?;
    let hostname = match hostname {
        Some((hostname, template)) => match option::domain(&hostname.value) {
            Ok(domain) => Some(hostname.map(|_| domain)),
            Err(why) => return Err(expanded.wrong(template, &why)),
        },
        None => None,
    };
    let shm = match given(expanded, "The shared memory", said.shm.as_ref())? {
        Some((size, template)) => match option::bytes(&size.value) {
            Ok(bytes) => Some(size.map(|_| bytes)),
            Err(why) => return Err(expanded.wrong(template, &why)),
        },
        None => None,
    };
    Ok(Container {
        entrypoint: each(&said.entrypoint, |template| word(expanded, template))?,
        user: user(expanded, said)?,
        init: said.init,
        hostname,
        shm,
        privileges: said.privileges.clone(),
    })
}

fn user(expanded: &Expanded<'_>, said: &recipe::Container) -> Result<Option<Sourced<String>>, Diagnostic> {
    match given(expanded, "The user", said.user.as_ref())? {
        Some((user, template)) if !is_user(&user.value) => {
            let why = format!("{:?} is no user such as 33:33", user.value);
            Err(expanded.wrong(template, &why))
        }
        user => Ok(user.map(|(user, _)| user)),
    }
}

/// The text of a template that may be left out, and the template to blame for it.
fn given<'t>(
    expanded: &Expanded<'_>,
    what: &str,
    template: Option<&'t Template>,
) -> Result<Option<(Sourced<String>, &'t Template)>, Diagnostic> {
    let text = |template| Ok((plain_text(expanded, what, template, CONFIG)?, template));
    template.map(text).transpose()
}

fn is_user(text: &str) -> bool {
    let fits = |part: &str| {
        !part.is_empty()
            && part.len() <= 32
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    match text.split_once(':') {
        Some((user, group)) => fits(user) && fits(group),
        None => fits(text),
    }
}
