//! `completions` and `man`: texts that are made from the arguments of the command line ([`Cli`]).

use anyhow::{Context, Result};
use clap::CommandFactory;

use super::output::write_file;
use crate::cli::{Cli, WrongUsage};

pub fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "throng", &mut script);
    write_file("-".as_ref(), &script)
}

pub fn man(command: Option<&str>) -> Result<()> {
    let mut program = Cli::command();
    // Commands get their full names, as in `man git-commit`.
    program.build();
    let command = match command {
        None => program,
        Some(name) => {
            let found = program.get_subcommands().find(|command| command.get_name() == name).cloned();
            let names: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
            found.ok_or_else(|| WrongUsage(format!("{name}: no such command; there are: {}", names.join(", "))))?
        }
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).context("cannot make the page")?;
    write_file("-".as_ref(), &page)
}
