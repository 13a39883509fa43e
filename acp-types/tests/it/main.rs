//! Integration tests.

mod dispatch;
mod fixtures;
mod law;
mod methods;
mod shapes;
mod wire_types;
