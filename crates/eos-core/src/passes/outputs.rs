//! What a component offers: the outputs of its recipe, and how others find its first service.

use crate::catalog::KEPT;
use crate::diagnostic::Diagnostic;
use crate::expand::Expanded;
use crate::output::{self, ADDRESS, Output, PORT};
use crate::profile::Profile;
use serde_json::Map;

pub fn outputs(
    expanded: &Expanded<'_>,
    profile: Profile,
    front: Option<&str>,
) -> Result<Vec<Output>, Diagnostic> {
    let recipe = &expanded.recipe.outputs;
    let names = recipe.iter().flat_map(|output| output.value.names());
    let known = names.filter_map(|name| Some((name.to_owned(), expanded.context.get(name)?.clone())));
    let mut context: Map<_, _> = known.collect();
    if let Some(front) = front {
        output::add_place(&mut context, front);
    }
    let mut outputs = Vec::with_capacity(expanded.served.len() + recipe.len() + 1);
    let urls = expanded.served.iter().enumerate();
    let urls = urls.map(|(index, route)| Output::of_route(index == 0, &route.name, &route.url));
    // One of the recipe's own wins.
    outputs.extend(urls.filter(|url| recipe.iter().all(|output| output.name != url.name)));
    for output in recipe {
        // With these options no service has a port: nothing answers anywhere.
        let mut names = output.value.names();
        if names.any(|name| matches!(name, ADDRESS | PORT) && !context.contains_key(name)) {
            continue;
        }
        let value = output.value.evaluate(&context);
        match value.and_then(|value| Output::read(&output.name, &value)) {
            Ok(read) => outputs.push(read),
            // The text of a pin never changes, and what it says of itself does not stop what it runs.
            Err(_) if expanded.recipe.file.starts_with(KEPT) => {}
            Err(why) => return Err(expanded.wrong(&output.value, &why)),
        }
    }
    outputs.extend(front.map(|front| Output::of_service(profile, front)));
    Ok(outputs)
}
