//! What the program computes without a window and without a device.

mod bench;
mod cli;
mod panel;
mod text;
mod view;
