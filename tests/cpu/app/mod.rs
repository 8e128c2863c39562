//! What the program computes without a window and without a device.

mod advice;
mod bench;
mod cli;
mod export;
mod hide;
mod panel;
mod text;
mod view;
