//! Types with serde's traits as members of the macros' types.

/// Implements [`Wire`](crate::wire::Wire) for types with serde's traits and `Default`, so that they
/// can be members of the macros' types.
///
/// Such a type keeps unknown data only if its own implementations do. A value without a JSON form
/// is encoded as `null`.
///
/// ```
/// #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Point(f64, f64);
///
/// jsonrpc_core::serde_wire! { Point }
///
/// jsonrpc_core::object! {
///     /// A line.
///     pub struct Line {
///         /// Its points.
///         points: Vec<Point> = "points",
///     }
/// }
/// let line: Line = jsonrpc_core::wire::decode(r#"{"points":[[1.5,2.5]]}"#)?;
/// assert_eq!(line.points, [Point(1.5, 2.5)]);
/// # Ok::<(), jsonrpc_core::wire::DecodeError>(())
/// ```
#[macro_export]
macro_rules! serde_wire {
    ($($Type:ty),+ $(,)?) => { $(
        impl $crate::wire::Wire for $Type {
            fn blank() -> Self {
                ::core::default::Default::default()
            }

            fn read(
                &mut self,
                reader: &mut $crate::wire::ValueReader<'_>,
            ) -> ::core::result::Result<(), $crate::wire::Fault> {
                *self = $crate::wire::private::read_serde(reader)?;
                ::core::result::Result::Ok(())
            }

            fn view(&self) -> $crate::wire::View<'_> {
                $crate::wire::private::view_serde(self)
            }
        }
    )+ };
}

/// Implements [`Wire`](crate::wire::Wire) for structs with one public field that have its JSON
/// form.
///
/// ```
/// /// A version.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// pub struct Version(pub u16);
///
/// jsonrpc_core::transparent! { Version(u16) }
///
/// assert_eq!(jsonrpc_core::wire::decode("[1,2]"), Ok(vec![Version(1), Version(2)]));
/// ```
#[macro_export]
macro_rules! transparent {
    ($($Name:ident($Inner:ty)),+ $(,)?) => { $(
        impl $crate::wire::Wire for $Name {
            fn blank() -> Self {
                Self(<$Inner as $crate::wire::Wire>::blank())
            }

            fn read(
                &mut self,
                reader: &mut $crate::wire::ValueReader<'_>,
            ) -> ::core::result::Result<(), $crate::wire::Fault> {
                $crate::wire::Wire::read(&mut self.0, reader)
            }

            fn view(&self) -> $crate::wire::View<'_> {
                $crate::wire::Wire::view(&self.0)
            }
        }

        $crate::object! { @serde $Name }
    )+ };
}

/// Returns the JSON text of a type with serde's traits.
pub fn view_serde<T: serde::Serialize>(value: &T) -> super::View<'_> {
    serde_json::to_string(value).map_or(super::View::Null, |text| super::View::Text(text.into()))
}
