//! Runs the program: its command line, its window, its results compared with another implementation, and hostile files.

mod common;
mod program {
    mod cli;
    mod conformance;
    mod oracle;
    #[cfg(target_os = "linux")]
    mod untrusted;
    #[cfg(target_os = "linux")]
    mod window;
}
