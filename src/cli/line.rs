//! From the arguments of `render` back to a command line, so that a view of the window can be drawn again.
//!
//! In: arguments for one image. Out: words that [`Cli`] parses to the same arguments. Each option whose text
//! (`values.rs`) is not clap's default is written, so an option needs no line here. Only paths, which may not be text, are
//! written by hand.

use std::ffi::OsString;
use std::path::Path;

use clap::{ArgAction, Args, Parser};
use serde_json::Value;

use super::{Cli, Command, RenderArgs};

impl RenderArgs {
    /// Returns the command line as a shell takes it. `None` if a path is no text.
    pub fn shell_line(&self) -> Option<String> {
        let words = self.line();
        shlex::try_join(words.iter().map(|word| word.to_str()).collect::<Option<Vec<_>>>()?).ok()
    }

    /// Returns the arguments that the command line parses to.
    pub fn parsed_again(&self) -> Result<Self, clap::Error> {
        match Cli::try_parse_from(self.line())?.command {
            Some(Command::Render(args)) => Ok(args),
            _ => Ok(self.clone()),
        }
    }

    /// Returns the command line for the first image.
    pub fn line(&self) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec!["throng".into(), "render".into()];
        line.extend(self.crowd.models.iter().map(|path| file(path)));
        line.extend(self.crowd.clips.files.iter().flat_map(|path| ["--clips".into(), path.into()]));
        // Text and numbers always become JSON.
        let values = serde_json::to_value(self).unwrap_or_default();
        for option in Self::augment_args(clap::Command::new("render")).get_arguments() {
            let (Some(long), Some(value)) = (option.get_long(), value(&values, option.get_id().as_str())) else {
                continue;
            };
            let long = format!("--{long}");
            if matches!(option.get_action(), ArgAction::SetTrue) {
                line.extend((*value == Value::Bool(true)).then(|| long.into()));
                continue;
            }
            let texts = texts(value);
            if !option.get_default_values().iter().eq(&texts) {
                line.extend(texts.into_iter().flat_map(|text| [long.clone().into(), text.into()]));
            }
        }
        line.extend(["--out".into(), self.out.clone().into()]);
        line
    }
}

/// Returns the value of an option, which a group may have.
fn value<'v>(group: &'v Value, id: &str) -> Option<&'v Value> {
    let group = group.as_object()?;
    let own = group.get(id).filter(|value| !value.is_object());
    own.or_else(|| group.values().find_map(|inner| value(inner, id)))
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Bool(is_on) => vec![if *is_on { "on" } else { "off" }.to_owned()],
        Value::Number(number) if number.is_f64() => number.as_f64().iter().map(f64::to_string).collect(),
        Value::Number(number) => vec![number.to_string()],
        Value::String(text) => vec![text.clone()],
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

/// Returns a path that is no option.
fn file(path: &Path) -> OsString {
    let is_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_option { Path::new(".").join(path).into() } else { path.into() }
}
