//! The JSON forms of types of the standard library and of serde_json.
use super::extra::Extra;
use super::problem::Fault;
use super::reader::ValueReader;
use super::table::OpenObject;
use super::value::{FlatObject, List, Members, Object, View, Wire};
use super::writer::Entries;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde_json::{Number, Value};

impl<T: Object> Object for Box<T> {
    const NAME: &'static str = T::NAME;
}

impl<T: Members> Members for Box<T> {
    fn write_members(&self, out: &mut Entries<'_>) {
        (**self).write_members(out);
    }

    fn extra(&self) -> Option<&Extra> {
        (**self).extra()
    }
}

impl<T: FlatObject> FlatObject for Box<T> {
    fn read_flat(
        &mut self,
        reader: &mut ValueReader<'_>,
        open: &OpenObject<'_>,
    ) -> Result<(), Fault> {
        (**self).read_flat(reader, open)
    }

    fn extra_mut(&mut self) -> Option<&mut Extra> {
        (**self).extra_mut()
    }
}

impl<T: Wire> Wire for Box<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        (**self).read(reader)
    }

    fn view(&self) -> View<'_> {
        (**self).view()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn blank() -> Self {
        None
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        if reader.null()? {
            return Ok(());
        }
        *self = Some(T::blank());
        let Some(value) = self else { return Ok(()) };
        let read = value.read(reader);
        if read.is_err() {
            *self = None;
        }
        read
    }

    fn view(&self) -> View<'_> {
        match self {
            Some(value) => value.view(),
            None => View::Null,
        }
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        reader.next_byte();
        let start = reader.scanner.at();
        reader.items(&mut |reader| {
            let mut item = T::blank();
            item.read(reader)?;
            if self.len() == self.capacity() {
                self.reserve_exact(reader.growth(start, self.len(), size_of::<T>()));
            }
            self.push(item);
            Ok(())
        })
    }

    fn view(&self) -> View<'_> {
        View::List(self)
    }
}

impl<T: Wire> List for Vec<T> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn item(&self, at: usize) -> Option<&dyn Wire> {
        match self.get(at) {
            Some(item) => Some(item),
            None => None,
        }
    }
}

impl<T: Wire> Wire for BTreeMap<String, T> {
    fn blank() -> Self {
        Self::new()
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        reader.members("a map", &mut |name, reader| {
            let mut value = T::blank();
            value.read(reader)?;
            self.insert(name.into_owned(), value);
            Ok(())
        })
    }

    fn view(&self) -> View<'_> {
        View::Object(self)
    }
}

impl<T: Wire> Members for BTreeMap<String, T> {
    fn write_members(&self, out: &mut Entries<'_>) {
        for (name, value) in self {
            out.entry(name, value);
        }
    }
}

macro_rules! strings {
    ($($Text:ty: $blank:expr;)+) => { $(
        impl Wire for $Text {
            fn blank() -> Self {
                $blank
            }

            fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
                *self = reader.string()?.into_owned().into();
                Ok(())
            }

            fn view(&self) -> View<'_> {
                View::Str(self)
            }
        }
    )+ };
}

strings! {
    String: Self::new();
    Cow<'static, str>: Self::default();
    Box<str>: Self::default();
    Arc<str>: Self::default();
}

macro_rules! integers {
    ($($Integer:ty: $View:ident, $name:literal;)+) => { $(
        impl Wire for $Integer {
            fn blank() -> Self {
                0
            }

            fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
                *self = reader.integer($name)?;
                Ok(())
            }

            fn view(&self) -> View<'_> {
                View::$View(*self as _)
            }
        }
    )+ };
}

integers! {
    u8: Unsigned, "u8";
    u16: Unsigned, "u16";
    u32: Unsigned, "u32";
    u64: Unsigned, "u64";
    usize: Unsigned, "usize";
    i8: Signed, "i8";
    i16: Signed, "i16";
    i32: Signed, "i32";
    i64: Signed, "i64";
}

impl Wire for f64 {
    fn blank() -> Self {
        0.0
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        *self = reader.float("f64")?;
        Ok(())
    }

    fn view(&self) -> View<'_> {
        View::Float(*self)
    }
}

impl Wire for bool {
    fn blank() -> Self {
        false
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        *self = match reader.next_byte() {
            b't' => true,
            b'f' => false,
            _ => return Err(reader.expected("a boolean")),
        };
        reader.text().map(drop)
    }

    fn view(&self) -> View<'_> {
        View::Bool(*self)
    }
}

impl Wire for () {
    fn blank() -> Self {}

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        if reader.null()? { Ok(()) } else { Err(reader.expected("unit")) }
    }

    fn view(&self) -> View<'_> {
        View::Null
    }
}

impl Wire for Number {
    fn blank() -> Self {
        0.into()
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        if !matches!(reader.next_byte(), b'-' | b'0'..=b'9') {
            return Err(reader.expected("a JSON number"));
        }
        match serde_json::from_str(reader.text()?) {
            Ok(number) => *self = number,
            Err(_) => return Err(reader.invalid("a JSON number in the range of f64")),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        if let Some(number) = self.as_u64() {
            return View::Unsigned(number);
        }
        match (self.as_i64(), self.as_f64()) {
            (Some(number), _) => View::Signed(number),
            (None, Some(number)) => View::Float(number),
            (None, None) => View::Text(self.to_string().into()),
        }
    }
}

impl Wire for Value {
    fn blank() -> Self {
        Self::Null
    }

    fn read(&mut self, reader: &mut ValueReader<'_>) -> Result<(), Fault> {
        match serde_json::from_str(reader.text()?) {
            Ok(value) => *self = value,
            Err(_) => return Err(reader.invalid("a JSON value that a `Value` holds")),
        }
        Ok(())
    }

    fn view(&self) -> View<'_> {
        View::Text(self.to_string().into())
    }
}
