//! What the program computes without a window and without a device.

mod bench;
mod cli;
mod export;
mod hide;
mod panel;
mod text;
mod view;
